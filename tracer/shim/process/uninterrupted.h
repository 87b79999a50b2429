// Code that the thread does not leave in the middle: neither by a jump out of a signal handler, nor
// by being canceled. For rare events: it costs two system calls.
#ifndef CAIRN_UNINTERRUPTED_H
#define CAIRN_UNINTERRUPTED_H

#include <stdbool.h>
#include <stdint.h>

// What the thread had before.
struct cairn_uninterrupted {
	uint64_t signals;
	int cancellation;
};

// cairn_uninterrupted_begin blocks cancellation and all signals but those that an instruction
// raises, until cairn_uninterrupted_end. It may be nested.
struct cairn_uninterrupted cairn_uninterrupted_begin(void);
void cairn_uninterrupted_end(struct cairn_uninterrupted before);

// A lock for rare events. A thread that has it is not interrupted, or it could be lost, and others
// would wait for it for ever. Taking it fails if the thread already has it, in the handler of a
// signal that an instruction raised: the caller must then do without.
struct cairn_rare {
	_Atomic uintptr_t owner;
	struct cairn_uninterrupted before; // of the owner
};
bool cairn_rare_lock(struct cairn_rare *lock);
void cairn_rare_unlock(struct cairn_rare *lock);

// cairn_rare_try takes the lock if no thread has it.
bool cairn_rare_try(struct cairn_rare *lock);

#endif
