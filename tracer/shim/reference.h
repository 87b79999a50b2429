// The reference log of --verify. It is written beside the record, by the code of a library of its own (reference/lines.h),
// which only processes that verify load.
#ifndef CAIRN_REFERENCE_H
#define CAIRN_REFERENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "hidden.h"
#include "reference/library.h"

// NULL: the library is not loaded. It is as long as cairn_verifying is set, and once it is it stays.
extern CAIRN_HIDDEN const struct cairn_reference *_Atomic cairn_reference;

// cairn_reference_load loads the library, at the first call of MPI; inner, symbol and variable are those of bind.c. Where that
// is not possible it says so on standard error and returns false.
bool cairn_reference_load(void *(*inner)(unsigned), void *(*symbol)(const char *), void *(*variable)(const char *));

#endif
