// How entry points find what they lead to.
#ifndef CAIRN_BIND_H
#define CAIRN_BIND_H

#include <stdbool.h>
#include <stdint.h>

#include "../gen/functions_gen.h"

// cairn_traced finds out, at the first call of MPI, which MPI the process has and whether it is to be traced.
bool cairn_traced(void);

// cairn_find returns the next definition of a symbol in the order of resolution, or that of a mapped MPI library
// that is not in it; NULL if there is none.
void *cairn_find(const char *name);

// cairn_inner returns libmpi's own PMPI function: for what we ask ourselves. NULL where there is none.
void *cairn_inner(unsigned id);
#define CAIRN_INNER(name) ((__typeof__(&cairn_##name))cairn_inner(CAIRN_ID_##name))

// cairn_not_there says that the process's MPI lacks a function, and returns one that fails.
void *cairn_not_there(const char *name);

// cairn_is_library adds the library with this code to those whose calls are not the program's. The executable is none.
void cairn_is_library(void *code);

// cairn_in_library is exact where cairn_called_by_library (state.h) may say yes for what lies between two libraries.
bool cairn_in_library(uint64_t caller);

#endif
