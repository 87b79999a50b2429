// Calls that repeat in many ways, in phases of random length: loops of few and of many different
// calls, with more or fewer others between them; in some phases on two threads. The arguments are the
// seed, the number of calls per rank, and whether there are two threads.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static int rank, size, many;

static int below(unsigned *state, int n)
{
	return rand_r(state) % n;
}

// loop makes some iterations of a loop with some different calls, and returns how many calls it makes.
static int loop(unsigned *state)
{
	int calls = 0, flag, x;
	const int different = 1 + below(state, 60), seldom = 20 + below(state, 400);

	for (int i = 1 + below(state, many / 20 / different); i > 0; i--) {
		for (int k = 0; k < different; k++, calls++)
			MPI_Iprobe(MPI_PROC_NULL, k, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		if (below(state, seldom) == 0) {
			MPI_Type_size(MPI_INT, &x);
			MPI_Iprobe(MPI_PROC_NULL, 100 + below(state, 30000), MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
			calls += 2;
		}
		for (volatile int n = 1 << below(state, 10); n > 0; n--)
			;
	}
	return calls;
}

// exchange passes messages around the ranks.
static int exchange(unsigned *state)
{
	int mine = rank, theirs, n = 20 + below(state, 100);
	MPI_Request r[2];

	for (int i = 0; i < n; i++) {
		MPI_Irecv(&theirs, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	return 3 * n;
}

static void *other(void *seed)
{
	unsigned state = *(unsigned *)seed;

	for (int calls = 0; calls < many;)
		calls += loop(&state);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const unsigned seed = (unsigned)atoi(argv[1]);
	unsigned state = seed * 64 + (unsigned)rank, theirs = state + 32, common = seed;
	many = atoi(argv[2]);
	if (argv[3][0] == '2')
		pthread_create(&thread, NULL, other, &theirs);
	for (int phase = 0; phase < 20; phase++) {
		exchange(&common); // the same on all ranks
		for (int calls = 0; calls < many / 20;)
			calls += loop(&state);
	}
	if (argv[3][0] == '2')
		pthread_join(thread, NULL);
	MPI_Finalize();
	return 0;
}
