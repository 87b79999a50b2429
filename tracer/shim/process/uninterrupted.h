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

// A lock for rare events. Its owner is not canceled, but a handler may interrupt it, and jump out:
// what the lock protects has to be valid wherever that happens. The thread takes it again with its
// next call, and another one as soon as it sees that the owner has left. Taking it fails in calls of
// such a handler, and where the owner stays in a system call for seconds: the caller must then do
// without.
struct cairn_rare {
	_Atomic uint64_t owner; // its tid | the depth of its calls << 32; 0: none
	_Atomic uint64_t away;  // an owner that others have waited for in vain
	_Atomic uintptr_t frame, end; // where the owner took it on its stack, and that stack's end
	int cancellation;       // that the owner had
};
bool cairn_rare_lock(struct cairn_rare *lock);
void cairn_rare_unlock(struct cairn_rare *lock);

// cairn_rare_try takes the lock if no other thread has it.
bool cairn_rare_try(struct cairn_rare *lock);

#endif
