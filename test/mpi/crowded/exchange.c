// Ranks that share a CPU compute for about 0.1 ms and exchange 64 KiB, again and again for a second.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>

enum { BYTES = 64 << 10 };

static char in[BYTES], out[BYTES];

// share_cpu moves all ranks to the CPU on which the first one is.
static void share_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	MPI_Bcast(&cpu, 1, MPI_INT, 0, MPI_COMM_WORLD);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	int rank, size, over = 0, done = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	share_cpu();
	const double begin = MPI_Wtime();
	while (!done) {
		volatile double x = 1;
		for (int i = 0; i < 100000; i++)
			x = x * 1.0000001 + 1e-9;
		MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + 1) % size, 0, in, BYTES, MPI_BYTE, (rank + size - 1) % size, 0,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		over = rank == 0 && MPI_Wtime() > begin + 1;
		MPI_Allreduce(&over, &done, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
