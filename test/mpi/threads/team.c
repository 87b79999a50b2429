// Each rank works with a team of OpenMP threads, 2 ms of CPU time each, before it enters
// MPI_Allreduce. One thread of rank 1 works 25 ms.
#include <mpi.h>
#include <omp.h>
#include <time.h>

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void work(double ms)
{
	const double begin = cpu_ms();

	while (cpu_ms() - begin < ms)
		for (volatile int i = 0; i < 1000; i++)
			;
}

int main(int argc, char **argv)
{
	int level, rank;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 80; i++) {
		double x = 1, sum;
#pragma omp parallel
		work(rank == 1 && omp_get_thread_num() == 1 ? 25 : 2);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
