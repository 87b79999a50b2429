// Call stacks: the return addresses on the calling thread's stack, found with the .eh_frame section that compilers
// write for every function (System V ABI for AMD64, 3.7; DWARF 4, 6.4).
#ifndef CAIRN_UNWIND_H
#define CAIRN_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CAIRN_MAX_FRAMES = 128,
	CAIRN_WALK_WORDS = 64,
	CAIRN_SAME_WALK = -1,
};

// A walk up the stack: its start and all words that it read. Nothing else affects its result.
struct cairn_walk {
	uintptr_t pc, sp, rbp; // sp 0: no walk
	bool used_rbp;
	uint32_t n;
	struct {
		const uintptr_t *at;
		uintptr_t value;
	} words[CAIRN_WALK_WORDS];
};

// cairn_unwind_begin loads the fallback unwinder. Before it nothing is unwound.
void cairn_unwind_begin(void);

// cairn_unwind writes the return addresses of the active functions, innermost first, without our own and without the C
// library's start of the program or thread. It returns their number, 0 if none could be found. Once it has seen all
// functions on the stack it neither allocates nor takes a lock. If walk is not NULL and the walk would be the same as
// *walk, it returns CAIRN_SAME_WALK and no addresses; otherwise it updates *walk.
int cairn_unwind(uintptr_t addresses[CAIRN_MAX_FRAMES], struct cairn_walk *walk);

#endif
