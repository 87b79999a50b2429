// Call stacks: the return addresses on the calling thread's stack, found with the .eh_frame section
// that compilers write for every function (System V ABI for AMD64, 3.7; DWARF 4, 6.4; DWARF for the
// Arm 64-bit Architecture).
#ifndef CAIRN_UNWIND_H
#define CAIRN_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CAIRN_MAX_FRAMES = 128,
	CAIRN_WALK_WORDS = 64,
};

// Where a walk begins: registers of a function of ours after it returns.
struct cairn_start {
	uintptr_t pc, sp, fp;
};

// CAIRN_START is the start of a walk from the function that it is used in, which
// must not be inlined.
#define CAIRN_START \
	((struct cairn_start){(uintptr_t)__builtin_return_address(0), (uintptr_t)__builtin_dwarf_cfa(), \
			      *(const uintptr_t *)__builtin_frame_address(0)})

// A walk up the stack: its start and all words that it read. Nothing else affects its result.
struct cairn_walk {
	struct cairn_start start; // sp 0: no walk
	bool used_fp;
	uint32_t n;
	struct {
		const uintptr_t *at;
		uintptr_t value;
	} words[CAIRN_WALK_WORDS];
};

// cairn_same_walk reports whether a walk that begins there would read the same words as before, in
// the same order. Then it has the same result.
static inline bool cairn_same_walk(const struct cairn_walk *walk, const struct cairn_start *start)
{
	if (walk->start.sp != start->sp || walk->start.pc != start->pc || (walk->used_fp && walk->start.fp != start->fp))
		return false;
	for (uint32_t i = 0; i < walk->n; i++)
		if (*walk->words[i].at != walk->words[i].value)
			return false;
	return true;
}

// cairn_unwind_begin prepares walks. Before it nothing is unwound. It returns false if there is no
// memory.
bool cairn_unwind_begin(void);

// cairn_unwind_begin_paths does so once the list of modules is there, for paths without the C
// library's start of the program or thread; with the fallback unwinder for frames that no rule of
// ours describes if that is wanted and there is one.
bool cairn_unwind_begin_paths(bool fallback);

// cairn_is_own reports whether an address is in this library.
bool cairn_is_own(uintptr_t pc);

// cairn_know_own_stack finds out what the thread's stack is. The C library allocates then: so it is
// called before the thread's first record, and not for a later call, which may be a signal handler's.
void cairn_know_own_stack(void);

// cairn_on_own_stack reports whether an address is on the stack that the C library gave the thread,
// as far as that is known.
bool cairn_on_own_stack(uintptr_t address);

// cairn_is_libc reports whether an address is in the C library.
bool cairn_is_libc(uintptr_t pc);

// cairn_unwind writes the return addresses of the active functions, innermost first, without our
// own and without the C library's start of the program or thread. It returns their number, 0 if
// none could be found. Once it has seen all functions on the stack it neither allocates nor takes a
// lock. If walk is not NULL, what was read is kept there. If enough is not NULL, it is called for
// each address, also of our own, with data, and the walk ends when it returns true.
int cairn_unwind(uintptr_t addresses[CAIRN_MAX_FRAMES], struct cairn_start start, struct cairn_walk *walk,
		 bool (*enough)(uintptr_t pc, void *data), void *data);

#endif
