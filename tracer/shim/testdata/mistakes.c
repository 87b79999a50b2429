// Calls whose records a bug would damage: a status, a list of different elements.
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, x = 1, y, lengths[] = {1, 2, 3}, places[] = {0, 4, 8};
	MPI_Status status;
	MPI_Datatype type;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
	MPI_Type_free(&type);
	if (rank == 0)
		MPI_Send(&x, 1, MPI_INT, 1, 17, MPI_COMM_WORLD);
	else
		MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Finalize();
	return 0;
}
