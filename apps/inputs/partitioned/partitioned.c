/* A ring of partitioned messages: parts of a buffer leave as they are computed. */
#include <mpi.h>
#include <stdio.h>

enum { PARTS = 8, COUNT = 512 };

int main(int argc, char **argv)
{
	static double out[PARTS * COUNT], in[PARTS * COUNT];
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Request both[2];
	MPI_Psend_init(out, PARTS, COUNT, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
	MPI_Precv_init(in, PARTS, COUNT, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
	double sum = 0;
	for (int step = 0; step < 200; step++) {
		MPI_Startall(2, both);
		for (int part = 0; part < PARTS; part++) {
			for (int i = 0; i < COUNT; i++)
				out[part * COUNT + i] = rank + step + 0.001 * i;
			MPI_Pready(part, both[0]);
		}
		MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
		sum += in[step % (PARTS * COUNT)];
	}
	MPI_Request_free(&both[0]);
	MPI_Request_free(&both[1]);
	double all;
	MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("sum %.3f\n", all);
	MPI_Finalize();
	return 0;
}
