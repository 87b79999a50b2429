// Threads that call MPI for the first time in an order that the seed (the argument) and the rank
// give: three workers, each with its own tag and number of messages, of which the last lives
// shortest, and on rank 0 a helper.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { WORKERS = 3, THREADS = WORKERS + 1 };

static int rank, order[THREADS], turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void begin(long k)
{
	int done;

	pthread_mutex_lock(&mutex);
	while (order[turn] != k)
		pthread_cond_wait(&changed, &mutex);
	MPI_Finalized(&done);
	turn++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void *work(void *argument)
{
	const long k = (long)argument;
	int sent = 0, received;

	begin(k);
	for (int i = 0; i < 10 - 3 * k; i++)
		MPI_Sendrecv(&sent, 1, MPI_INT, rank ^ 1, k, &received, 1, MPI_INT, rank ^ 1, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return NULL;
}

static void *help(void *argument)
{
	int sent = 0, received;

	begin((long)argument);
	MPI_Sendrecv(&sent, 1, MPI_INT, 0, 9, &received, 1, MPI_INT, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, n;
	pthread_t threads[THREADS];

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	n = rank == 0 ? THREADS : WORKERS;
	srand((argc > 1 ? atoi(argv[1]) : 0) * 64 + rank);
	for (int i = 0; i < n; i++) {
		const int j = rand() % (i + 1);
		order[i] = order[j];
		order[j] = i;
	}
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, i < WORKERS ? work : help, (void *)i);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	MPI_Finalize();
	return 0;
}
