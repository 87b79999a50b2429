// The first thread of each rank joins two threads that exchange messages with the other rank, and
// take turns in MPI if there is an argument.
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 2, BYTES = 1 << 20 };

static int rank, turns;
static MPI_Comm comm[THREADS];
static char out[THREADS][BYTES], in[THREADS][BYTES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *exchange(void *argument)
{
	const int k = *(int *)argument;

	for (int i = 0; i < 100; i++) {
		if (turns)
			pthread_mutex_lock(&mutex);
		MPI_Sendrecv(out[k], BYTES, MPI_BYTE, 1 - rank, 0, in[k], BYTES, MPI_BYTE, 1 - rank, 0, comm[turns ? 0 : k], MPI_STATUS_IGNORE);
		if (turns)
			pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int level, number[THREADS];
	pthread_t thread[THREADS];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	turns = argc > 1;
	for (int k = 0; k < THREADS; k++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[k]);
	for (int i = 0; i < 10; i++) {
		for (int k = 0; k < THREADS; k++) {
			number[k] = k;
			pthread_create(&thread[k], NULL, exchange, &number[k]);
		}
		for (int k = 0; k < THREADS; k++)
			pthread_join(thread[k], NULL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return level < MPI_THREAD_MULTIPLE;
}
