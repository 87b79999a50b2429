// A thread per task: argv[1] threads, argv[2] at a time, each of which makes three calls. Another one
// calls MPI before MPI_Init, and again in the end.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t barrier;

static pthread_barrier_t turn;

static void *early(void *unused)
{
	int x;
	(void)unused;
	MPI_Initialized(&x);
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn); // the tasks have ended
	MPI_Comm_size(MPI_COMM_SELF, &x);
	return NULL;
}

static void *task(void *unused)
{
	MPI_Status s;
	int x;
	(void)unused;
	pthread_barrier_wait(&barrier); // all of them live at the same time
	MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &x, &s);
	MPI_Comm_size(MPI_COMM_SELF, &x);
	MPI_Comm_rank(MPI_COMM_WORLD, &x);
	pthread_barrier_wait(&barrier);
	return NULL;
}

int main(int argc, char **argv)
{
	int level;
	pthread_t first;
	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&first, NULL, early, NULL) != 0)
		return 1;
	pthread_barrier_wait(&turn);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	const int n = atoi(argv[1]), together = atoi(argv[2]);
	pthread_t *threads = malloc(together * sizeof(*threads));
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&barrier, NULL, together);
	for (int i = 0; i < n; i += together) {
		for (int k = 0; k < together; k++)
			if (pthread_create(&threads[k], &small, task, NULL) != 0)
				MPI_Abort(MPI_COMM_WORLD, 5);
		for (int k = 0; k < together; k++)
			pthread_join(threads[k], NULL);
	}
	pthread_barrier_wait(&turn);
	pthread_join(first, NULL);
	MPI_Finalize();
	return 0;
}
