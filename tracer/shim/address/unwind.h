// Who called whom: the return addresses on the calling thread's stack, from the .eh_frame that compilers write for every
// function (System V ABI for AMD64, 3.7; DWARF 4, 6.4).
#ifndef CAIRN_UNWIND_H
#define CAIRN_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CAIRN_MOST_FRAMES = 128,
	CAIRN_WALK_WORDS = 64,
	CAIRN_SAME_WALK = -1,
};

// A walk up the stack: where it began, and what it read on the way. Nothing else decides where it leads.
struct cairn_walk {
	uintptr_t pc, sp, rbp; // sp 0: there is none
	bool used_rbp;
	uint32_t n;
	struct {
		const uintptr_t *at;
		uintptr_t value;
	} words[CAIRN_WALK_WORDS];
};

// cairn_unwind_begin looks up what the fallback needs. Before it nothing is unwound.
void cairn_unwind_begin(void);

// cairn_unwind writes the return addresses of the functions that led to this call, innermost first, without our own and
// without the C library's start of the program or thread. 0: none could be found. It allocates nothing and takes no lock
// once it has seen all functions on the way. If walk, which may be NULL, would be repeated word for word, it returns
// CAIRN_SAME_WALK and no addresses; else walk becomes this one.
int cairn_unwind(uintptr_t addresses[CAIRN_MOST_FRAMES], struct cairn_walk *walk);

#endif
