#include "uninterrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "thread.h"

struct cairn_uninterrupted cairn_uninterrupted_begin(void)
{
	struct cairn_uninterrupted before = {0, PTHREAD_CANCEL_ENABLE}; // as glibc < 2.34 without libpthread leaves it
	uint64_t all = ~(uint64_t)0;

	for (const int *s = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, 0}; *s != 0; s++)
		all &= ~((uint64_t)1 << (*s - 1));
	(void)syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before.signals, sizeof(all));
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.cancellation);
	return before;
}

void cairn_uninterrupted_end(struct cairn_uninterrupted before)
{
	(void)pthread_setcancelstate(before.cancellation, &(int){0});
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before.signals, NULL, sizeof(before.signals));
}

int cairn_each_module(int (*callback)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	const struct cairn_uninterrupted before = cairn_uninterrupted_begin();
	const int result = dl_iterate_phdr(callback, data);

	cairn_uninterrupted_end(before);
	return result;
}

// Locks of the thread that do not block signals, and the cancellation that it had before.
static __thread struct {
	int held, before;
} uncanceled __attribute__((tls_model("initial-exec")));

static void hold(void)
{
	int before = PTHREAD_CANCEL_ENABLE; // as glibc < 2.34 without libpthread leaves it

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (uncanceled.held++ == 0)
		uncanceled.before = before;
}

static void let_go(void)
{
	if (--uncanceled.held == 0)
		(void)pthread_setcancelstate(uncanceled.before, &(int){0});
}

void cairn_rare_left(void)
{
	if (uncanceled.held > 0) {
		uncanceled.held = 1;
		let_go();
	}
}

enum { DEPTH_SHIFT = 32, NUMBER_SHIFT = 40 };

static uint32_t tid_of(uint64_t owner)
{
	return (uint32_t)owner;
}

static unsigned depth_of(uint64_t owner)
{
	return (unsigned)(owner >> DEPTH_SHIFT & 0xff);
}

// take takes the lock from an owner (0: none).
static bool take(struct cairn_rare *lock, uint64_t from, const void *frame)
{
	static _Atomic uint32_t number;
	const uint32_t tid = (uint32_t)syscall(SYS_gettid);
	const uint64_t self = tid | (uint64_t)cairn_self.depth << DEPTH_SHIFT | (uint64_t)(atomic_fetch_add(&number, 1) & 0xffffff) << NUMBER_SHIFT;
	struct cairn_uninterrupted before = {0, 0};

	if (lock->blocks)
		before = cairn_uninterrupted_begin();
	else
		hold();
	if (!atomic_compare_exchange_strong(&lock->owner, &from, self)) {
		if (lock->blocks)
			cairn_uninterrupted_end(before);
		else
			let_go();
		return false;
	}
	const uintptr_t end = (pid_t)tid == getpid() ? getauxval(AT_RANDOM) : (uintptr_t)__builtin_thread_pointer();
	atomic_store_explicit(&lock->end, end, memory_order_relaxed);
	atomic_store_explicit(&lock->frame, (uintptr_t)frame, memory_order_release);
	lock->before = before;
	return true;
}

static bool is_mine(uint64_t owner)
{
	return tid_of(owner) == (uint32_t)syscall(SYS_gettid);
}

// take_again takes the lock that this thread has had in a call that was left, unless that is one which
// a handler's call interrupts.
static bool take_again(struct cairn_rare *lock, uint64_t owner, const void *frame)
{
	if (lock->blocks || cairn_self.depth > depth_of(owner))
		return false;
	cairn_rare_left();
	return take(lock, owner, frame);
}

static bool owner_has_ended(uint64_t owner)
{
	const int saved = errno;
	const bool ended = syscall(SYS_tgkill, getpid(), (int)tid_of(owner), 0) != 0 && errno == ESRCH;

	errno = saved;
	return ended;
}

// stack_pointer returns that of a thread in a system call, 0 if it is not known.
static uintptr_t stack_pointer(uint32_t tid)
{
	char path[64], text[256], *at;

	snprintf(path, sizeof(path), "/proc/self/task/%u/syscall", tid);
	const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	const ssize_t n = file < 0 ? -1 : syscall(SYS_read, file, text, sizeof(text) - 1);
	if (file >= 0)
		(void)syscall(SYS_close, file);
	text[n > 0 ? n : 0] = 0;
	at = strrchr(text, ' '); // the last number is the address of the instruction
	if (at == NULL)
		return 0;
	*at = 0;
	return (at = strrchr(text, ' ')) != NULL ? (uintptr_t)strtoull(at + 1, NULL, 16) : 0;
}

// waits_outside reports whether an owner waits in a system call further up on its stack than where it
// took the lock.
static bool waits_outside(const struct cairn_rare *lock, uint64_t owner)
{
	const uintptr_t frame = atomic_load_explicit(&lock->frame, memory_order_acquire), end = atomic_load_explicit(&lock->end, memory_order_relaxed);
	const uintptr_t sp = !lock->blocks && frame != 0 ? stack_pointer(tid_of(owner)) : 0;

	return sp > frame && sp < end;
}

static bool try_from(struct cairn_rare *lock, const void *frame)
{
	const uint64_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

	if (owner == 0)
		return take(lock, 0, frame);
	if (is_mine(owner))
		return take_again(lock, owner, frame);
	return owner_has_ended(owner) && take(lock, owner, frame);
}

bool cairn_rare_try(struct cairn_rare *lock)
{
	return try_from(lock, NULL);
}

bool cairn_rare_lock(struct cairn_rare *lock, const void *frame)
{
	enum { SHORT = 1000000, LONG = 2000000000 }; // ns
	const int saved = errno;
	uint64_t last = 0, began = 0;
	bool taken = true;

	while (!try_from(lock, frame)) {
		const uint64_t owner = atomic_load(&lock->owner), now = cairn_clock_ns(CLOCK_MONOTONIC);
		if (owner == 0)
			continue;
		if (is_mine(owner)) {
			taken = false;
			break;
		}
		sched_yield();
		if (owner != last)
			last = owner, began = now;
		if (now - began < SHORT)
			continue;
		if (waits_outside(lock, owner) && take(lock, owner, frame))
			break;
		if (now - began > LONG || atomic_load(&lock->away) == owner) {
			atomic_store(&lock->away, owner);
			taken = false;
			break;
		}
	}
	errno = saved;
	return taken;
}

void cairn_rare_unlock(struct cairn_rare *lock)
{
	const struct cairn_uninterrupted before = lock->before;
	uint64_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

	if (is_mine(owner)) // or else another thread has it now
		(void)atomic_compare_exchange_strong(&lock->owner, &owner, 0);
	if (lock->blocks)
		cairn_uninterrupted_end(before);
	else
		let_go();
}
