/*
 * The total cost for a process that initializes MPI, makes some calls, computes nothing and finalizes. It prints one line:
 *
 *	start  CPU ns  wall ns
 *
 * CPU time is that of the whole process, from its first instruction on; wall time that of MPI_Init, the calls and
 * MPI_Finalize. Before MPI_Finalize it sleeps, not counted as wall time, so that everything the calls have started gets ready.
 *
 *	start CALLS      make bench-tracer runs it with and without the tracer
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 0;
	int rank;

	double begin = ns(CLOCK_MONOTONIC);
	MPI_Init(&argc, &argv);
	for (long k = 0; k < calls; k++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double wall = ns(CLOCK_MONOTONIC) - begin;
	usleep(100000);
	begin = ns(CLOCK_MONOTONIC);
	MPI_Finalize();
	wall += ns(CLOCK_MONOTONIC) - begin;
	printf("start %.0f %.0f\n", ns(CLOCK_PROCESS_CPUTIME_ID), wall);
	return 0;
}
