// Threads use everything that the shim's threads share at the same time: first calls, calls before MPI_Init, handles
// that are freed by one thread and reused by another, callbacks, full buffers, regions without recording. stress ROUNDS
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 6 };
static int rounds;
static pthread_barrier_t start;

static void *early(void *unused)
{
	int flag = 7;
	(void)unused;
	pthread_barrier_wait(&start);
	for (int i = 0; i < 50; i++) {
		MPI_Initialized(&flag);
		if (flag)
			return (void *)1;
	}
	return NULL;
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
	int size; // a call inside a call
	MPI_Type_size(*type, &size);
	for (int i = 0; i < *length; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void *work(void *number)
{
	int me = (int)(intptr_t)number;
	pthread_barrier_wait(&start);
	for (int i = 0; i < rounds; i++) {
		int in = me * rounds + i, out = -1, index, sum = 1;
		MPI_Datatype type;
		MPI_Request request[2];
		MPI_Status status[2];
		MPI_Group group, some;
		MPI_Comm comm;
		MPI_Op op;
		MPI_Type_contiguous(1, MPI_INT, &type);
		MPI_Type_commit(&type);
		MPI_Irecv(&out, 1, type, 0, me, MPI_COMM_WORLD, &request[0]);
		MPI_Isend(&in, 1, type, 0, me, MPI_COMM_WORLD, &request[1]);
		if (i % 2) {
			MPI_Waitall(2, request, status);
			if (status[0].MPI_TAG != me)
				return (void *)1;
		} else {
			MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
			MPI_Waitany(2, request, &index, &status[0]);
		}
		if (out != in)
			return (void *)2;
		MPI_Comm_group(MPI_COMM_SELF, &group);
		MPI_Group_incl(group, 1, (int[]){0}, &some);
		MPI_Group_free(&some);
		MPI_Group_free(&group);
		MPI_Comm_dup(MPI_COMM_SELF, &comm);
		MPI_Op_create(add, 1, &op);
		MPI_Reduce_local(&in, &sum, 1, MPI_INT, op);
		if (sum != in + 1)
			return (void *)3;
		MPI_Op_free(&op);
		MPI_Comm_free(&comm);
		MPI_Type_free(&type);
	}
	return NULL;
}

// threads runs f on THREADS threads at once and returns how many found a mistake.
static int threads(void *(*f)(void *))
{
	pthread_t thread[THREADS];
	int bad = 0;
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, f, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++) {
		void *result;
		pthread_join(thread[i], &result);
		bad += result != NULL;
	}
	pthread_barrier_destroy(&start);
	return bad;
}

int main(int argc, char **argv)
{
	int bad, provided;
	rounds = atoi(argv[1]);
	bad = threads(early);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	bad += threads(work);
	MPI_Pcontrol(0);
	bad += threads(work);
	MPI_Pcontrol(1);
	bad += threads(work);
	MPI_Finalize();
	printf("%d threads found a mistake\n", bad);
	return bad;
}
