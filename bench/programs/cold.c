// What a call costs when the caches belong to the program: before each timed call, the program
// writes BYTES, 6 MiB unless given, more than the first two levels hold. Prints a line for each
// KIND of call: name, median and lower quartile in ns.
//
//	cold [CALLS [KIND [BYTES]]]      make bench-tracer-cold runs it with and without the tracer
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static volatile char memory[6 << 20];
static size_t written = sizeof memory;
static MPI_Request requests[2];

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

// ticks is cheaper and finer than the system's clock, where there is such a counter. The fences
// keep what is timed between two readings.
static double ticks(void)
{
#if defined(__x86_64__)
	_mm_lfence();
	const double now = (double)__rdtsc();
	_mm_lfence();
	return now;
#else
	return now_ns();
#endif
}

// compute leaves nothing in the first two levels of cache but the program's data. It loads what it
// writes, so that hardly any store is under way when it is done.
static void compute(void)
{
	for (size_t k = 0; k < written; k += 64)
		memory[k]++;
}

static void nothing(void)
{
}

static void irecv(void)
{
	static double in;
	MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &requests[0]);
}

// What is timed is named as in the output: make bench-tracer-lines counts in these functions.
static void isend(void)
{
	static double out = 1;
	MPI_Isend(&out, 1, MPI_DOUBLE, 0, 2, MPI_COMM_SELF, &requests[1]);
}

static void type_size(void)
{
	int size;
	MPI_Type_size(MPI_DOUBLE, &size);
}

static void iprobe(void)
{
	int flag;
	MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void wait(void)
{
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void exchange(void)
{
	irecv();
	isend();
}

static void complete(void)
{
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static const struct {
	const char *name;
	void (*before)(void), (*timed)(void), (*after)(void);
} kinds[] = {
	{"type_size", nothing, type_size, nothing},
	{"iprobe", nothing, iprobe, nothing},
	{"isend", irecv, isend, complete},
	{"wait", exchange, wait, complete},
};

static int by_length(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void run(int k, double *time)
{
	kinds[k].before();
	compute();
	const double begin = ticks();
	kinds[k].timed();
	*time = ticks() - begin;
	kinds[k].after();
}

int main(int argc, char **argv)
{
	enum { many = sizeof kinds / sizeof *kinds };
	const long calls = argc > 1 ? atol(argv[1]) : 1500;
	const char *only = argc > 2 ? argv[2] : NULL;
	double *times = calls > 0 ? malloc(sizeof *times * many * (size_t)calls) : NULL;

	if (argc > 3 && (size_t)atol(argv[3]) < written)
		written = (size_t)atol(argv[3]);
	if (times == NULL)
		return 1;
	MPI_Init(&argc, &argv);
	const double begin_ns = now_ns(), begin = ticks();
	for (long n = 0; n < calls; n++) // in turns, so that other load affects all kinds alike
		for (int k = 0; k < many; k++)
			if (only == NULL || strcmp(only, kinds[k].name) == 0)
				run(k, &times[k * calls + n]);
	const double ns = (now_ns() - begin_ns) / (ticks() - begin); // of a tick
	for (int k = 0; k < many; k++) {
		double *of = times + k * calls;
		if (only != NULL && strcmp(only, kinds[k].name) != 0)
			continue;
		qsort(of, (size_t)calls, sizeof *of, by_length);
		printf("%s %.1f %.1f\n", kinds[k].name, ns * of[calls / 2], ns * of[calls / 4]);
	}
	MPI_Finalize();
	return 0;
}
