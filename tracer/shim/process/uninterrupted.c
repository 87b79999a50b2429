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

static uint64_t me(void)
{
	return (uint64_t)cairn_self.depth << 32 | (uint32_t)syscall(SYS_gettid);
}

// take takes the lock from an owner (0: none).
static bool take(struct cairn_rare *lock, uint64_t from)
{
	const uint64_t self = me();
	int before = PTHREAD_CANCEL_ENABLE; // as glibc < 2.34 without libpthread leaves it

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (!atomic_compare_exchange_strong(&lock->owner, &from, self)) {
		(void)pthread_setcancelstate(before, &(int){0});
		return false;
	}
	const uintptr_t end = (pid_t)(uint32_t)self == getpid() ? getauxval(AT_RANDOM) : (uintptr_t)__builtin_thread_pointer();
	atomic_store_explicit(&lock->end, end, memory_order_relaxed);
	atomic_store_explicit(&lock->frame, (uintptr_t)__builtin_frame_address(0), memory_order_release);
	lock->cancellation = before;
	return true;
}

// is_mine reports whether the owner is this thread, in a call that it has left, or in one that a
// handler's call interrupts.
static bool is_mine(uint64_t owner, bool *left)
{
	const uint64_t self = me();

	*left = self >> 32 <= owner >> 32;
	return (uint32_t)owner == (uint32_t)self;
}

// cpu_time returns the CPU time of a thread in ns, 0 if it is not known.
static uint64_t cpu_time(uint32_t tid)
{
	return cairn_clock_ns((clockid_t)(~tid << 3 | 6)); // as pthread_getcpuclockid
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

// has_left reports whether an owner is seen to have left: it has ended, waits further up on its
// stack, or has computed for longer than anybody has the lock.
static bool has_left(const struct cairn_rare *lock, uint64_t owner, uint64_t cpu_before)
{
	enum { MOST = 100000000 }; // ns
	const uint32_t tid = (uint32_t)owner;
	const uintptr_t frame = atomic_load_explicit(&lock->frame, memory_order_acquire), end = atomic_load_explicit(&lock->end, memory_order_relaxed);

	if (atomic_load(&lock->owner) != owner)
		return false;
	if (syscall(SYS_tgkill, getpid(), (int)tid, 0) != 0)
		return errno == ESRCH;
	if (cpu_time(tid) - cpu_before > MOST && cpu_before != 0)
		return true;
	const uintptr_t sp = stack_pointer(tid);
	return frame != 0 && sp > frame && sp < end;
}

bool cairn_rare_try(struct cairn_rare *lock)
{
	const uint64_t owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);
	bool left;

	if (owner == 0)
		return take(lock, 0);
	return is_mine(owner, &left) && left;
}

bool cairn_rare_lock(struct cairn_rare *lock)
{
	enum { SHORT = 1000000, LONG = 2000000000 }; // ns
	const int saved = errno;
	uint64_t owner, last = 0, began = 0, cpu = 0;
	bool taken = true, left;

	while (!cairn_rare_try(lock)) {
		if ((owner = atomic_load(&lock->owner)) == 0)
			continue;
		if (is_mine(owner, &left)) {
			taken = left;
			break;
		}
		sched_yield();
		const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);
		if (owner != last)
			last = owner, began = now, cpu = cpu_time((uint32_t)owner);
		if (now - began < SHORT)
			continue;
		if (has_left(lock, owner, cpu) && take(lock, owner))
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
	const int before = lock->cancellation;
	bool left;

	if (!is_mine(atomic_load_explicit(&lock->owner, memory_order_relaxed), &left))
		return; // another thread has it now
	atomic_store_explicit(&lock->frame, 0, memory_order_relaxed);
	atomic_store_explicit(&lock->away, 0, memory_order_relaxed);
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	(void)pthread_setcancelstate(before, &(int){0});
}
