// The callers that a call site is recorded with when call paths are not wanted
// (docs/decisions/0104-wrappers.md).
#ifndef CAIRN_CALLERS_H
#define CAIRN_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

enum { CAIRN_MAX_CALLERS = 6 }; // with the call site itself

// A selection of the frames of a walk: as long as their functions may be wrappers, and one more.
struct cairn_callers {
	uintptr_t site; // return address of the call of MPI
	uintptr_t kept[CAIRN_MAX_CALLERS];
	int n;
};

// cairn_may_be_in_wrapper reports whether the function around a return address has no other call of
// the same function. The answer is the same in all processes of a binary.
bool cairn_may_be_in_wrapper(uintptr_t site);

// cairn_select_caller looks at the next frame of a walk, the innermost first, and reports whether
// no further one is wanted.
bool cairn_select_caller(uintptr_t pc, void *callers);

#endif
