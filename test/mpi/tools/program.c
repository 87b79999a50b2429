// SPDX-License-Identifier: Apache-2.0
// Counts its calls of MPI, also those in callbacks.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FUNCTIONS = 64 };
static struct {
	const char *name;
	unsigned long calls;
} counted[FUNCTIONS];

static void count(const char *name)
{
	int i = 0;
	while (counted[i].name != NULL && strcmp(counted[i].name, name) != 0)
		i++;
	counted[i].name = name;
	counted[i].calls++;
}

#define CALL(name, ...) (count("MPI_" #name), MPI_##name(__VA_ARGS__))

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int size;
	CALL(Type_size, *type, &size);
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static int copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag)
{
	int rank;
	(void)keyval, (void)state;
	CALL(Comm_rank, comm, &rank);
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
	int rank, size, keyval, flag, in[4] = {1, 2, 3, 4}, out[4], provided;
	void *value;
	MPI_Comm dup;
	MPI_Op op;
	MPI_Status status;
	MPI_Request requests[2];

	if (argc > 1)
		CALL(Init_thread, &argc, &argv, MPI_THREAD_FUNNELED, &provided);
	else
		CALL(Init, &argc, &argv);
	CALL(Comm_rank, MPI_COMM_WORLD, &rank);
	CALL(Comm_size, MPI_COMM_WORLD, &size);
	CALL(Op_create, add, 1, &op);
	CALL(Comm_create_keyval, copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
	CALL(Comm_set_attr, MPI_COMM_WORLD, keyval, in);
	const int left = (rank + size - 1) % size, right = (rank + 1) % size;
	for (int i = 0; i < 30; i++) {
		CALL(Allreduce, in, out, 4, MPI_INT, op, MPI_COMM_WORLD);
		CALL(Sendrecv, in, 4, MPI_INT, right, i, out, 4, MPI_INT, left, i, MPI_COMM_WORLD, &status);
		CALL(Irecv, out, 4, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[0]);
		CALL(Isend, in, 4, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[1]);
		CALL(Waitall, 2, requests, MPI_STATUSES_IGNORE);
		if (i % 5 == 0) {
			CALL(Comm_dup, MPI_COMM_WORLD, &dup);
			CALL(Comm_get_attr, dup, keyval, &value, &flag);
			CALL(Comm_free, &dup);
		}
		if (CALL(Wtime) < 0)
			return 1;
	}
	if (rank == 0)
		CALL(Send, in, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
	if (rank == size - 1)
		CALL(Recv, out, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	CALL(Comm_delete_attr, MPI_COMM_WORLD, keyval);
	CALL(Comm_free_keyval, &keyval);
	CALL(Op_free, &op);
	CALL(Barrier, MPI_COMM_WORLD);
	CALL(Finalize);
	char line[4096];
	int n = snprintf(line, sizeof(line), "counts rank=%d", rank);
	for (int i = 0; counted[i].name != NULL; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n, " %s=%lu", counted[i].name, counted[i].calls);
	line[n++] = '\n';
	// in one piece: printf may write the end of the line on its own
	return write(STDOUT_FILENO, line, (size_t)n) != n;
}
