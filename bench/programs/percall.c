/*
 * The cost of a call: the process's CPU time, including all threads, per MPI call in a few loops on one rank. Prints one
 * line per loop, "name ns". make bench-languages runs it with and without the tracer; the difference is what tracing adds.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { warm_up = 20000 };

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void comm_rank(void)
{
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void iprobe(void)
{
	int flag;
	MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void allreduce_self(void)
{
	double in = 1, out;
	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void exchange_self(void)
{
	double in, out = 1;
	MPI_Request requests[2];
	MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &requests[0]);
	MPI_Isend(&out, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static const struct {
	const char *name;
	void (*body)(void);
	int calls;
} loops[] = {
	{"MPI_Comm_rank", comm_rank, 1},
	{"MPI_Iprobe", iprobe, 1},
	{"MPI_Allreduce(self)", allreduce_self, 1},
	{"Irecv+Isend+Waitall", exchange_self, 3},
};

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 300000;

	MPI_Init(&argc, &argv);
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		for (int k = 0; k < warm_up; k++)
			loops[i].body();
		const double begin = cpu_ns();
		for (long k = 0; k < n; k++)
			loops[i].body();
		printf("%s %.1f\n", loops[i].name, (cpu_ns() - begin) / n / loops[i].calls);
	}
	MPI_Finalize();
	return 0;
}
