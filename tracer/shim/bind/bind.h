// How entry points find their functions.
#ifndef CAIRN_BIND_H
#define CAIRN_BIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../gen/functions_gen.h"
#include "../process/hidden.h"

// cairn_traced determines, at the first call of MPI, which MPI the process has, and reports whether
// it must be traced.
bool cairn_traced(void);

// cairn_pass_on binds a slot to the next shim's definition of a symbol, in a process that this one
// does not trace. It returns false if there is no other shim.
bool cairn_pass_on(void **slot, const char *symbol);

// cairn_knows reports whether a call that comes to the MPI library is one that the shim has seen,
// or is not the program's, or need not be recorded.
bool cairn_knows(unsigned id, uint64_t caller);

// A tool behind us has functions of MPI. It calls PMPI_X in calls that we have seen, so every such
// call is looked at.
extern CAIRN_HIDDEN _Atomic bool cairn_tool_is_behind;

// The program's calls of PMPI_X are not to be recorded: the executable has an ELF note "Cairn" of
// type 1. Our own programs do that.
extern CAIRN_HIDDEN bool cairn_profiling_is_hidden;

// cairn_note_tool must be called before the first call is passed to a definition of MPI that is not
// libmpi's.
void cairn_note_tool(void);

// cairn_must_record reports whether calls of a function pass through its wrapper.
bool cairn_must_record(unsigned id);

// cairn_wrapper_of returns the wrapper of a function, NULL if it has none.
void *cairn_wrapper_of(unsigned id);

// cairn_lead binds a slot to the wrapper, or to the real function while the function is not
// recorded, and returns where the call goes. A slot that is not the same for all callers stays 0.
void *cairn_lead(void **slot, unsigned id, void *real, bool general);

// cairn_inner returns libmpi's own PMPI function, for calls of ours; NULL if there is none.
void *cairn_inner(unsigned id);
#define CAIRN_INNER(name) ((__typeof__(&cairn_##name))cairn_inner(CAIRN_ID_##name))

// cairn_not_there prints that the process's MPI lacks a function, and returns a
// function that fails.
void *cairn_not_there(const char *name);

// cairn_is_library adds the library with this code to those whose calls are not the program's. It
// ignores the executable.
void cairn_is_library(void *code);

// cairn_in_library is exact, and true for our own code; cairn_called_by_library (state.h) may be
// true for code between two of the libraries.
bool cairn_in_library(uint64_t caller);

// cairn_in_component reports whether code is that of a component of Open MPI, a library that it
// loads when it needs it, and adds it to the libraries.
bool cairn_in_component(uint64_t caller);

#endif
