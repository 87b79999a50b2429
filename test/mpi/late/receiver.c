// Rank 1 receives 50 ms after rank 0 has sent, argv[2] times: argv[1] is s (MPI_Ssend of 4 bytes) or b (MPI_Send of 8 MB).
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, n = atoi(argv[2]), size = argv[1][0] == 's' ? 4 : 8 << 20;
	char *b = calloc(1, size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < n; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			if (size == 4)
				MPI_Ssend(b, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
			else
				MPI_Send(b, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		} else if (rank == 1) {
			usleep(50000);
			MPI_Recv(b, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
	free(b);
	MPI_Finalize();
}
