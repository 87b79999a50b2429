// Ranks sleep for 5 ms in each of 300 iterations. In one of them the last rank sleeps for 1.5 s.
#define _GNU_SOURCE
#include <mpi.h>
#include <time.h>

static void rest(double seconds)
{
	const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	(void)nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int rank, size;
	double x = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 300; i++) {
		rest(i == 200 && rank == size - 1 ? 1.5 : 0.005);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
