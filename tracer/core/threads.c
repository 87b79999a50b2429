// What the Go runtime takes of a process that is not its own: few threads, with small stacks. The runtime calls the two
// functions of libc by which it starts a thread; it gets these instead.
//
// It makes room for as many threads at once as it finds CPUs, before any of our Go code runs, and a library cannot be told
// GOMAXPROCS. So until the runtime has started, its threads are bound to one CPU: then it finds one.
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
	STACK = 1 << 20,       // bytes; Go code has stacks of its own
	LARGE_STACK = 8 << 20, // where thread-local variables of the process's libraries do not leave enough of it
	EARLY = 16,            // threads that start before the runtime is there, at most
};

// The runtime's threads start others, themselves while they are bound. Whoever starts one holds the lock until it is
// listed: else a thread could take the CPU that it is bound to for all that there are.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t all; // where the threads may run in the end
static pthread_t early[EARLY];
static int bound;     // how many are bound to a CPU; −1: none is any more

// bind lets a thread start on the CPU on which this one runs, and stay there.
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
