// Calls that take a fraction of a microsecond, on two threads at once, between computations of random length; sometimes
// recording is off. The argument is the seed.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static int rank, size;

static void compute(unsigned *state)
{
	const int n = 1 << rand_r(state) % 16;
	for (volatile int i = 0; i < n; i++)
		;
}

static void *quick(void *seed)
{
	unsigned state = *(unsigned *)seed;

	for (int i = 0; i < 3000; i++) {
		int x;
		MPI_Comm_rank(MPI_COMM_WORLD, &x);
		if (rand_r(&state) % 4 == 0)
			compute(&state);
		MPI_Comm_size(MPI_COMM_WORLD, &x);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, mine = 0, theirs;
	pthread_t other;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	unsigned seeds[2] = {(unsigned)atoi(argv[1]) * 64 + (unsigned)rank, (unsigned)atoi(argv[1]) * 64 + 32 + (unsigned)rank};
	pthread_create(&other, NULL, quick, &seeds[1]);
	quick(&seeds[0]);
	for (int i = 0; i < 400; i++) {
		MPI_Allreduce(&rank, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		if (i % 100 == 50)
			MPI_Pcontrol(0);
		if (i % 100 == 60)
			MPI_Pcontrol(1);
	}
	pthread_join(other, NULL);
	MPI_Finalize();
	return 0;
}
