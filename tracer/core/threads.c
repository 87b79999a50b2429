// Keeps the Go runtime's threads few and their stacks small. The runtime gets these replacements of
// the two libc functions that it starts threads with.
//
// Before any of our Go code runs, the runtime prepares for as many threads as it finds CPUs, and
// GOMAXPROCS cannot be set for a library. So its threads are bound to one CPU until it has started:
// then it finds only one.
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

extern __typeof__(pthread_create) libc_pthread_create;
extern __typeof__(pthread_attr_init) libc_pthread_attr_init;
__asm__(".symver libc_pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver libc_pthread_attr_init, pthread_attr_init@GLIBC_2.2.5");

enum {
	STACK = 1 << 20,       // bytes; goroutines have stacks of their own
	LARGE_STACK = 8 << 20, // used if thread-local variables of the process's libraries do not fit into the former
	EARLY = 16,            // maximal number of threads that start before the runtime has started
};

// The runtime's threads start others, while they are bound themselves. A thread that starts another
// one holds the lock until the new one is listed. Otherwise it could take the CPU that it is bound
// to for the whole set of CPUs.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t all; // CPUs that the threads may finally use
static pthread_t early[EARLY];
static int bound;     // number of threads bound to a CPU; −1: binding is over

// bind makes a new thread start on the CPU of the calling thread, and stay there.
static void bind(pthread_attr_t *attributes)
{
	const int cpu = sched_getcpu();
	cpu_set_t one;

	if (bound == 0 && sched_getaffinity(0, sizeof(all), &all) != 0)
		return;
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)pthread_attr_setaffinity_np(attributes, sizeof(one), &one);
}

__attribute__((visibility("hidden")))
int pthread_attr_init(pthread_attr_t *attributes)
{
	const int error = libc_pthread_attr_init(attributes);

	if (error == 0)
		(void)pthread_attr_setstacksize(attributes, STACK);
	return error;
}

__attribute__((visibility("hidden")))
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	pthread_attr_t own = *attributes;
	int error;

	pthread_mutex_lock(&lock);
	const int early_one = bound >= 0 && bound < EARLY;
	if (early_one)
		bind(&own);
	error = libc_pthread_create(thread, &own, run, argument);
	if (error == EINVAL) {
		own = *attributes;
		(void)pthread_attr_setstacksize(&own, LARGE_STACK);
		error = libc_pthread_create(thread, &own, run, argument);
	}
	if (error == 0 && early_one)
		early[bound++] = *thread;
	pthread_mutex_unlock(&lock);
	return error;
}

void cairn_threads_unbind(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < bound; i++)
		(void)pthread_setaffinity_np(early[i], sizeof(all), &all);
	bound = -1;
	pthread_mutex_unlock(&lock);
}
