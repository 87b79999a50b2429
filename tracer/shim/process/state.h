// Process-wide state: whether the process is traced, and where the functions are. state.c depends
// on no other file.
#ifndef CAIRN_STATE_H
#define CAIRN_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../gen/functions_gen.h"
#include "hidden.h"

#define CAIRN_LIKELY(x) __builtin_expect(!!(x), 1)
#define CAIRN_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum cairn_state {
	CAIRN_EARLY, // before MPI_Init: records go to a static buffer
	CAIRN_ON,    // records go to record buffers
	CAIRN_OFF,   // not traced, or tracing has stopped: calls are passed through
};

extern CAIRN_HIDDEN _Atomic int cairn_state;
extern CAIRN_HIDDEN _Atomic bool cairn_verifying; // the reference log is written
extern CAIRN_HIDDEN bool cairn_clustered;         // the mode of this job

// The targets of the entry points, and the real functions behind the wrappers: the next definitions
// in the order of symbol resolution, which the program would have got without us (they may be
// another tool's).
extern CAIRN_HIDDEN void *cairn_slots[CAIRN_FUNCTIONS];
extern CAIRN_HIDDEN void *cairn_profiling_slots[CAIRN_FUNCTIONS]; // of PMPI_*
extern CAIRN_HIDDEN void *cairn_real[CAIRN_FUNCTIONS];

#define CAIRN_REAL(name) ((__typeof__(&cairn_##name))__atomic_load_n(&cairn_real[CAIRN_ID_##name], __ATOMIC_RELAXED))

// The code of the MPI library. It sometimes calls its own functions by their public names; those
// are no calls of the program. The range is empty if MPI is part of the executable. Once there are
// calls from Fortran it includes the libraries of the Fortran layer: see fortran.h.
extern CAIRN_HIDDEN uintptr_t cairn_library_begin, cairn_library_size;

static inline bool cairn_called_by_library(uint64_t caller)
{
	uintptr_t begin = __atomic_load_n(&cairn_library_begin, __ATOMIC_ACQUIRE);
	return (uintptr_t)caller - begin < __atomic_load_n(&cairn_library_size, __ATOMIC_RELAXED);
}

// cairn_stop ends tracing and prints why on standard error, in one line; NULL: the reason was
// printed already.
void cairn_stop(const char *why);

#endif
