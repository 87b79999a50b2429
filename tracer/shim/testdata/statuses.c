// Waits and tests for as many requests as the shim has statuses for on the stack, and for one more and one less; with
// ignored statuses, and with statuses that must be as MPI leaves them.
#include <mpi.h>
#include <stdio.h>

enum { MOST = 64 };

static MPI_Request requests[MOST];
static MPI_Status statuses[MOST];
static int sent[MOST], got[MOST], indices[MOST];

static void start(int n)
{
	for (int i = 0; i < n; i++) {
		MPI_Irecv(&got[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
		MPI_Send(&sent[i], 1, MPI_INT, 0, i, MPI_COMM_SELF);
	}
}

static int wrong(int n)
{
	int count = 0;
	for (int i = 0; i < n; i++)
		count += statuses[i].MPI_SOURCE != 0 || statuses[i].MPI_TAG != i;
	return count;
}

int main(int argc, char **argv)
{
	const int lengths[] = {0, 1, 26, 31, 32, 33, 34, MOST};
	int mistakes = 0;

	MPI_Init(&argc, &argv);
	for (unsigned k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		const int n = lengths[k];
		int done = 0, some = 0;

		start(n);
		MPI_Waitall(n, requests, statuses);
		mistakes += wrong(n);
		start(n);
		MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
		start(n);
		while (!done)
			MPI_Testall(n, requests, &done, statuses);
		mistakes += wrong(n);
		start(n);
		for (int left = n; left > 0; left -= some) {
			MPI_Waitsome(n, requests, &some, indices, statuses);
			for (int i = 0; i < some; i++)
				mistakes += statuses[i].MPI_TAG != indices[i];
		}
		start(n);
		for (int left = n; left > 0; left -= some)
			MPI_Waitsome(n, requests, &some, indices, MPI_STATUSES_IGNORE);
	}
	MPI_Finalize();
	printf("%d mistakes\n", mistakes);
	return mistakes != 0;
}
