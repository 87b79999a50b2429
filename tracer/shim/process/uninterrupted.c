#include "uninterrupted.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// A thread is known by the address of a variable of its own.
static __thread char me __attribute__((tls_model("initial-exec")));

bool cairn_rare_try(struct cairn_rare *lock)
{
	uintptr_t none = 0;

	if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != 0)
		return false;
	const struct cairn_uninterrupted before = cairn_uninterrupted_begin();
	if (!atomic_compare_exchange_strong_explicit(&lock->owner, &none, (uintptr_t)&me, memory_order_acquire, memory_order_relaxed)) {
		cairn_uninterrupted_end(before);
		return false;
	}
	lock->before = before;
	return true;
}

bool cairn_rare_lock(struct cairn_rare *lock)
{
	while (!cairn_rare_try(lock)) {
		if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == (uintptr_t)&me)
			return false;
		sched_yield();
	}
	return true;
}

void cairn_rare_unlock(struct cairn_rare *lock)
{
	const struct cairn_uninterrupted before = lock->before;

	atomic_store_explicit(&lock->owner, 0, memory_order_release);
	cairn_uninterrupted_end(before);
}
