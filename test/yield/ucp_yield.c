/*
 * MPICH's waiting ranks poll without a pause, so with more ranks than cores the rank that the others wait for
 * hardly runs: 16 ranks on two cores take minutes instead of seconds. Preloaded with the tracer, this makes a rank
 * yield its core to the others after an unsuccessful poll, as `--mca mpi_yield_when_idle 1` does for Open MPI. For tests
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
	if (!real) /* a program that loads MPI for itself (RTLD_LOCAL) */
		real = (progress_function *)dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
	unsigned events = real(worker);
	if (!events)
		sched_yield();
	return events;
}
