/*
 * The cost of evidence for long computations (docs/evidence.md): thousands of gaps of 1.2 ms between two calls, in which
 * the thread sleeps, so that almost none of its CPU time is the program's own. It prints one line, "gap", CPU and
 * wall time per gap in ns.
 *
 *	gaps ITERATIONS
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 2000;
	const struct timespec gap = {0, 1150000}; /* the rest it takes to wake up */
	int rank;

	MPI_Init(&argc, &argv);
	const double cpu = ns(CLOCK_PROCESS_CPUTIME_ID), wall = ns(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++) {
		nanosleep(&gap, NULL);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	printf("gap %.0f %.0f\n", (ns(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n, (ns(CLOCK_MONOTONIC) - wall) / n);
	MPI_Finalize();
	return 0;
}
