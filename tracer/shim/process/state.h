// What the whole process shares: is it traced, and where the functions are. state.c defines it and knows no other file.
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
	CAIRN_EARLY, // MPI_Init was not called yet: records go to a static buffer
	CAIRN_ON,    // records go to segments
	CAIRN_OFF,   // not traced (any more): calls are passed through
};

extern CAIRN_HIDDEN _Atomic int cairn_state;
extern CAIRN_HIDDEN _Atomic bool cairn_verifying; // the reference log is written
extern CAIRN_HIDDEN bool cairn_clustered;         // the mode of this job

// Where the entry points jump to, and the real functions behind the wrappers: the next definition in the order of
// symbol resolution, as the program would have got it without us (another tool may be there).
extern CAIRN_HIDDEN void *cairn_slots[CAIRN_FUNCTIONS];
extern CAIRN_HIDDEN void *cairn_real[CAIRN_FUNCTIONS];

#define CAIRN_REAL(name) ((__typeof__(&cairn_##name))__atomic_load_n(&cairn_real[CAIRN_ID_##name], __ATOMIC_RELAXED))

// The code of the MPI library: it calls its own functions by their public names here and there, which is no call of the
// program. Empty where MPI is part of the executable. Once there are calls from Fortran, the range around libmpi and the
// libraries of its Fortran layer: see fortran.h.
extern CAIRN_HIDDEN uintptr_t cairn_library_begin, cairn_library_size;

static inline bool cairn_called_by_library(uint64_t caller)
{
	uintptr_t begin = __atomic_load_n(&cairn_library_begin, __ATOMIC_RELAXED);
	return (uintptr_t)caller - begin < __atomic_load_n(&cairn_library_size, __ATOMIC_RELAXED);
}

// cairn_stop ends tracing with one line on standard error, or without one where the reason was said already (NULL).
void cairn_stop(const char *why);

#endif
