// SPDX-License-Identifier: Apache-2.0
// Ranks in turn: one works for 60 ms, the others wait for it. Work is to sleep ("turns sleep"), which takes no CPU, or, of
// all ranks at once and for 5 ms of CPU time each, to compute ("turns compute").
#include <mpi.h>
#include <string.h>
#include <time.h>

// Readings take long on a busy machine: there are enough of them in many turns only.
enum { TURNS = 32, SHARED = 200 };

static void spend(clockid_t clock, double seconds)
{
	struct timespec from, to;

	clock_gettime(clock, &from);
	do
		clock_gettime(clock, &to);
	while ((double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec) < seconds);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const int sleeps = argc > 1 && strcmp(argv[1], "sleep") == 0;
	for (int turn = 0; turn < (sleeps ? TURNS : SHARED); turn++) {
		if (!sleeps)
			spend(CLOCK_THREAD_CPUTIME_ID, 0.005);
		else if (turn % size == rank)
			nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
