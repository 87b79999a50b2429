// A module of an interpreter: linked with MPI, loaded with RTLD_LOCAL by a program (loader.c) that knows no MPI.
#include <mpi.h>
#include <stddef.h>

int run(void)
{
	int rank, sum;
	MPI_Comm half;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Barrier(half);
	MPI_Comm_free(&half);
	MPI_Finalize();
	return 0;
}
