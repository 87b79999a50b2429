// Records that are larger than a record buffer: long arrays of requests, displacements and strings.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 1000, BLOCKS = 70000, TEXT = 100000 };

int main(int argc, char **argv)
{
	int rank, ranks, *lengths = malloc(BLOCKS * sizeof(int)), *displacements = malloc(BLOCKS * sizeof(int));
	int *buffer = calloc(REQUESTS, sizeof(int)), out, *indices = malloc(2 * REQUESTS * sizeof(int));
	MPI_Request *requests = malloc(2 * REQUESTS * sizeof(MPI_Request));
	MPI_Datatype type;
	MPI_Info info;
	char *text = malloc(TEXT + 1);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < BLOCKS; i++) {
		lengths[i] = 1 + i % 3;
		displacements[i] = 4 * i;
	}
	for (int i = 0; i < 3; i++) {
		MPI_Type_indexed(BLOCKS, lengths, displacements, MPI_INT, &type);
		MPI_Type_free(&type);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < REQUESTS; i++) {
			MPI_Irecv(&buffer[i], 1, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD, &requests[2 * i]);
			MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD, &requests[2 * i + 1]);
		}
		if (k == 0) {
			MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
		} else {
			int done = 0;
			while (done < 2 * REQUESTS) {
				MPI_Waitsome(2 * REQUESTS, requests, &out, indices, MPI_STATUSES_IGNORE);
				done += out;
			}
		}
	}
	memset(text, 'x', TEXT);
	text[100] = 0; // MPI_MAX_INFO_VAL bounds it
	MPI_Info_create(&info);
	MPI_Info_set(info, "key", text);
	MPI_Info_free(&info);
	MPI_Finalize();
	return buffer[REQUESTS - 1] == (rank + ranks - 1) % ranks ? 0 : 80;
}
