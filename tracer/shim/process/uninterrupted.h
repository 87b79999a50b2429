// Code that a thread leaves in the middle: by a jump out of a signal handler, or when it is canceled.
#ifndef CAIRN_UNINTERRUPTED_H
#define CAIRN_UNINTERRUPTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What the thread had before.
struct cairn_uninterrupted {
	uint64_t signals;
	int cancellation;
};

// cairn_uninterrupted_begin blocks cancellation and all signals but those that an instruction
// raises, until cairn_uninterrupted_end. It may be nested. It is for what happens once, and calls
// functions of the C library that take locks of its own: while a thread blocks a signal that is sent
// to the process, the kernel gives it to another one, such as a thread of the MPI library, on whose
// stack no handler can jump to where the program wants to go on.
struct cairn_uninterrupted cairn_uninterrupted_begin(void);
void cairn_uninterrupted_end(struct cairn_uninterrupted before);

// cairn_each_module is dl_iterate_phdr, uninterrupted: it holds the dynamic linker's lock.
struct dl_phdr_info;
int cairn_each_module(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data);

// A lock for rare events.
//
// Where it does not block signals, a handler may interrupt the owner, and jump out: what the lock
// protects has to be valid wherever that happens. The thread takes it again with its next call, and
// another one when it sees that the owner has ended, or waits further up on its stack. Taking it fails in
// calls of such a handler, and after two seconds: the caller must then do without.
struct cairn_rare {
	bool blocks;            // signals, as cairn_uninterrupted_begin: for what happens once
	_Atomic uint64_t owner; // its tid | the depth of its calls << 32 | a number of its own << 40; 0: none
	_Atomic uint64_t away;  // an owner that others have waited for in vain
	_Atomic uintptr_t frame, end; // on the owner's stack: where it took the lock, 0: not known; the stack's end
	struct cairn_uninterrupted before; // of the owner
};

// cairn_rare_lock takes the lock. frame: of the function during which the thread has it, NULL: others
// do not look where the owner waits.
bool cairn_rare_lock(struct cairn_rare *lock, const void *frame);
void cairn_rare_unlock(struct cairn_rare *lock);

// cairn_rare_try takes the lock if no other thread has it.
bool cairn_rare_try(struct cairn_rare *lock);

// cairn_rare_left allows cancellation again for a thread that has jumped out.
void cairn_rare_left(void);

#endif
