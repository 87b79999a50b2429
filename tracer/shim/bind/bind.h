// How entry points find their functions.
#ifndef CAIRN_BIND_H
#define CAIRN_BIND_H

#include <stdbool.h>
#include <stdint.h>

#include "../gen/functions_gen.h"

// cairn_traced determines, at the first call of MPI, which MPI the process has, and reports whether
// it must be traced.
bool cairn_traced(void);

// cairn_pass_on binds a slot to the next shim's definition of a symbol, in a process that this one
// does not trace. It returns false if there is no other shim.
bool cairn_pass_on(void **slot, const char *symbol);

// cairn_inner returns libmpi's own PMPI function, for calls of ours; NULL if there is none.
void *cairn_inner(unsigned id);
#define CAIRN_INNER(name) ((__typeof__(&cairn_##name))cairn_inner(CAIRN_ID_##name))

// cairn_not_there prints that the process's MPI lacks a function, and returns a
// function that fails.
void *cairn_not_there(const char *name);

// cairn_is_library adds the library with this code to those whose calls are not the program's. It
// ignores the executable.
void cairn_is_library(void *code);

// cairn_in_library is exact; cairn_called_by_library (state.h) may be true for code between two
// of the libraries.
bool cairn_in_library(uint64_t caller);

#endif
