/* A program without MPI_Init: ranks make their communicator from a session and its process set. */
#include <mpi.h>
#include <stdio.h>

int main(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "of a session", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	int rank, size;
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	double sum = rank;
	for (int i = 0; i < 1000; i++) {
		double one = 0.5 * sum, all;
		MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
		sum = all + rank;
	}
	if (rank == 0)
		printf("%d ranks, sum %.6f\n", size, sum);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	return 0;
}
