// More than 256 signatures of every family: sizes, types, communicators, groups and control variables
// that are new in each iteration, whose handles and requests have one number again and again.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { iterations = 300 };

static void exchange(int i, int rank, int size, char *from, char *to)
{
	MPI_Request request, both[2];
	MPI_Status status;
	MPI_Datatype type;
	MPI_Irecv(to, i, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
	MPI_Send(from, i, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, &status);
	MPI_Type_contiguous(i, MPI_CHAR, &type);
	MPI_Type_commit(&type);
	MPI_Irecv(to, 1, type, (rank + size - 1) % size, i, MPI_COMM_WORLD, &both[0]);
	MPI_Isend(from, 1, type, (rank + 1) % size, i, MPI_COMM_WORLD, &both[1]);
	MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
	MPI_Type_free(&type);
}

static void split(int i, int rank, int size)
{
	MPI_Comm comm;
	MPI_Group world, group;
	int member = i % size;
	MPI_Comm_split(MPI_COMM_WORLD, 0, rank + i, &comm);
	MPI_Barrier(comm);
	MPI_Comm_free(&comm);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &member, &group);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

static void control(int i, int variables)
{
	MPI_T_cvar_handle handle;
	int count;
	if (i < variables && MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) == MPI_SUCCESS)
		MPI_T_cvar_handle_free(&handle);
}

int main(int argc, char **argv)
{
	int rank, size, provided, variables;
	MPI_Init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_cvar_get_num(&variables);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	char *from = calloc(iterations + 1, 1), *to = calloc(iterations + 1, 1);
	for (int i = 1; i <= iterations; i++) {
		exchange(i, rank, size, from, to);
		split(i, rank, size);
		control(i, variables);
	}
	MPI_T_finalize();
	MPI_Finalize();
	free(from);
	free(to);
	return 0;
}
