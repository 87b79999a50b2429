/*
 * MPICH's waiting ranks poll without a pause, so with more ranks than cores the one that the others wait for hardly
 * gets to run: 16 ranks on two cores take minutes for what takes seconds. Preloaded beside the tracer, this makes a
 * rank that polled in vain offer its core to the others, as `--mca mpi_yield_when_idle 1` does for Open MPI. For tests
 * on small machines only; it changes nothing that a program computes or that the tracer sees.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned progress_function(void *worker);

unsigned ucp_worker_progress(void *worker)
{
	static progress_function *real;
	if (!real) /* every thread finds the same */
		real = (progress_function *)dlsym(RTLD_NEXT, "ucp_worker_progress");
	unsigned events = real(worker);
	if (!events)
		sched_yield();
	return events;
}
