// The callers that a call site is recorded with when call paths are not wanted (docs/decisions/0104-wrappers.md).
#ifndef CAIRN_CALLERS_H
#define CAIRN_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

enum { CAIRN_MAX_CALLERS = 8 }; // with the call site itself

// A selection of the frames of a walk.
struct cairn_callers {
	uintptr_t site;            // return address of the call of MPI
	uintptr_t kept[CAIRN_MAX_CALLERS];
	int n;
	uintptr_t base, size;      // of the module with the last kept frame
	bool in_executable;        // it is the executable
	bool only_call;            // of its function to the function that it calls
};

void cairn_callers_begin(void);

// cairn_has_callers reports whether a call site is to be recorded with callers: it may be in a wrapper. The answer is the
// same in all processes of a binary.
bool cairn_has_callers(uintptr_t site);

// cairn_select_caller looks at the next frame of a walk, the innermost first, and reports whether no further one is wanted.
bool cairn_select_caller(uintptr_t pc, void *callers);

#endif
