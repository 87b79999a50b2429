// Many short-lived threads that create, share and free objects at once.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 6, ROUNDS = 60 };

static int rank, provided;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *number)
{
	int me = (int)(intptr_t)number, in = me, out = -1, flag;
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Datatype type;
		MPI_Request request[2];
		MPI_Group group, some;
		if (provided < MPI_THREAD_MULTIPLE)
			pthread_mutex_lock(&one);
		MPI_Type_contiguous(me + 1, MPI_INT, &type);
		MPI_Type_commit(&type);
		MPI_Irecv(&out, 1, MPI_INT, rank, me, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(&in, 1, MPI_INT, rank, me, MPI_COMM_WORLD, &request[1]);
		if (i % 2)
			MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		else
			do
				MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
			while (!flag);
		MPI_Comm_group(MPI_COMM_SELF, &group);
		MPI_Group_incl(group, 1, (int[]){0}, &some);
		MPI_Group_free(&some);
		MPI_Group_free(&group);
		MPI_Type_free(&type);
		if (provided < MPI_THREAD_MULTIPLE)
			pthread_mutex_unlock(&one);
		if (out != me)
			return (void *)1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int bad = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
		for (int i = 0; i < THREADS; i++) {
			void *result;
			pthread_join(threads[i], &result);
			bad += result != NULL;
		}
	}
	MPI_Finalize();
	return bad ? 80 : 0;
}
