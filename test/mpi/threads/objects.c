// Each thread makes objects, uses them in collective operations on a communicator of its own, and frees them, one thread
// after the other, so that the objects of all threads have the same numbers in a trace. A re-execution at maximum speed
// runs the threads side by side.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 20 };
static MPI_Comm comm[THREADS];
static pthread_barrier_t barrier;

static void keep(void *in, void *inout, int *n, MPI_Datatype *type) { (void)in, (void)inout, (void)n, (void)type; }

static void *work(void *number)
{
	int me = (int)(intptr_t)number, in[3] = {1, 2, 3}, out[3];

	for (int round = 0; round < ROUNDS; round++)
		for (int turn = 0; turn < THREADS; turn++) {
			pthread_barrier_wait(&barrier);
			if (turn != me)
				continue;
			MPI_Datatype type;
			MPI_Op op;
			MPI_Request request;
			MPI_Type_contiguous(me + 1, MPI_INT, &type);
			MPI_Type_commit(&type);
			MPI_Op_create(keep, 1, &op);
			MPI_Allreduce(in, out, me < 3 ? 1 : 0, type, op, comm[me]);
			MPI_Ibarrier(comm[me], &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			MPI_Op_free(&op);
			MPI_Type_free(&type);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t thread[THREADS];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 1);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comm[i]);
	MPI_Finalize();
	return 0;
}
