// MPI calls from inside of MPI calls: user-defined operations, attribute functions, error handlers, generalized
// requests; an error handler that leaves its call by longjmp.
#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf back;
static int rank, ranks, called;

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int size, lower;
	MPI_Type_size(*type, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &lower);
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
	called++;
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
	int size;
	MPI_Comm_size(comm, &size);
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
	int version, subversion;
	MPI_Get_version(&version, &subversion);
	return MPI_SUCCESS;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;
	MPI_Error_string(*code, text, &n);
}

static void leave(MPI_Comm *comm, int *code, ...)
{
	int class;
	MPI_Error_class(*code, &class);
	longjmp(back, 1);
}

static int query(void *extra, MPI_Status *status)
{
	MPI_Status_set_elements(status, MPI_INT, 3);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = 5;
	status->MPI_TAG = 6;
	return MPI_SUCCESS;
}

static int release(void *extra)
{
	return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int key, in[4] = {1, 2, 3, 4}, out[4], value = 9, flag, *got;
	MPI_Op op;
	MPI_Comm dup;
	MPI_Errhandler handler, leaver;
	MPI_Request request;
	MPI_Status status;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Op_create(add, 1, &op);
	for (int i = 0; i < 5; i++)
		MPI_Allreduce(in, out, 4, MPI_INT, op, MPI_COMM_WORLD);
	if (out[0] != ranks)
		return 80;
	MPI_Op_free(&op);

	MPI_Comm_create_keyval(copy, delete, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_get_attr(dup, key, &got, &flag);
	if (!flag || *got != 9)
		return 81;
	MPI_Comm_delete_attr(dup, key);
	MPI_Comm_free(&dup);
	MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
	MPI_Comm_free_keyval(&key);

	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_create_errhandler(leave, &leaver);
	MPI_Comm_set_errhandler(dup, handler);
	if (MPI_Send(in, 1, MPI_INT, ranks + 7, 0, dup) == MPI_SUCCESS)
		return 82;
	if (MPI_Send(in, -1, MPI_INT, 0, 0, dup) == MPI_SUCCESS)
		return 83;
	MPI_Comm_set_errhandler(dup, leaver);
	for (volatile int i = 0; i < 40; i++)
		if (setjmp(back) == 0) {
			MPI_Send(in, 1, MPI_INT, ranks + 7, 0, dup);
			return 84;
		}
	MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
	MPI_Barrier(dup);
	MPI_Comm_free(&dup);
	MPI_Errhandler_free(&handler);
	MPI_Errhandler_free(&leaver);

	MPI_Grequest_start(query, release, cancel, NULL, &request);
	MPI_Test(&request, &flag, &status);
	MPI_Grequest_complete(request);
	MPI_Wait(&request, &status);
	MPI_Get_count(&status, MPI_INT, &value);
	if (value != 3 || status.MPI_SOURCE != 5)
		return 85;
	MPI_Finalize();
	return 0;
}
