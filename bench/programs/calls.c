/*
 * The cost of a call: MPI calls in loops on one rank. For every loop it prints one line
 *
 *	name  mean ns  p99.9 ns  longest ns  asleep ns  delayed ns
 *
 * mean: CPU time per call of the whole process with all its threads, over a pass without other measurements. p99.9 and
 * longest: from a second pass in which every iteration is timed. asleep, delayed: how long the thread slept in the longest
 * iteration, and how long it waited for a CPU; the rest it ran.
 *
 * and at the end "Memory" with the resident memory of the process in KiB, and "Finalize" with the CPU time of MPI_Finalize.
 *
 *	calls [ITERATIONS [THREADS [LOOP]]]      make bench-tracer runs it with and without the tracer
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { many = 16, stall = 15000 /* ns; an iteration that takes longer was hardly all work */ };

struct spent { /* by a thread so far, ns */
	long wall, cpu, delayed;
};

struct rank { /* what a thread works with */
	MPI_Comm comm;
	long iterations;
	void (*body)(struct rank *);
	long *times; /* of each iteration, ns; NULL: not measured */
	int schedstat; /* the kernel's file of the thread */
	struct spent before; /* at the last stall */
	long longest, asleep, delayed; /* of the iteration that took longest */
};

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static long now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void comm_rank(struct rank *r)
{
	int rank;
	MPI_Comm_rank(r->comm, &rank);
}

static void iprobe(struct rank *r)
{
	int flag;
	MPI_Iprobe(MPI_ANY_SOURCE, 1, r->comm, &flag, MPI_STATUS_IGNORE);
}

static void allreduce(struct rank *r)
{
	double in = 1, out;
	MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, r->comm);
}

static void exchange(struct rank *r)
{
	double in, out = 1;
	MPI_Request requests[2];
	MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 2, r->comm, &requests[0]);
	MPI_Isend(&out, 1, MPI_DOUBLE, 0, 2, r->comm, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void waitany(struct rank *r)
{
	double in[many / 2], out = 1;
	MPI_Request requests[many];
	for (int k = 0; k < many / 2; k++) {
		MPI_Irecv(&in[k], 1, MPI_DOUBLE, 0, k, r->comm, &requests[2 * k]);
		MPI_Isend(&out, 1, MPI_DOUBLE, 0, k, r->comm, &requests[2 * k + 1]);
	}
	for (int k = 0; k < many; k++) {
		int index;
		MPI_Waitany(many, requests, &index, MPI_STATUS_IGNORE);
	}
}

static void allocate(struct rank *r)
{
	(void)r;
	char *volatile block = malloc(100);
	free(block);
}

/* resident_kib includes what is mapped of files. */
static long resident_kib(void)
{
	long all = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (f == NULL || fscanf(f, "%ld %ld", &all, &resident) != 2)
		resident = 0;
	if (f != NULL)
		fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static const struct {
	const char *name;
	void (*body)(struct rank *);
	int calls; /* of MPI in one iteration */
} loops[] = {
	{"Comm_rank", comm_rank, 1},
	{"Iprobe", iprobe, 1},
	{"Isend+Irecv+Waitall", exchange, 3},
	{"Allreduce(self)", allreduce, 1},
	{"Waitany(16)", waitany, 2 * many},
	{"malloc+free", allocate, 1}, /* not an MPI call, but what --pointers costs */
};

/* spent_so_far needs microseconds: it is for stalls only. */
static struct spent spent_so_far(const struct rank *r)
{
	char text[128] = "";
	struct timespec cpu;
	struct spent s = {0, 0, 0};
	if (pread(r->schedstat, text, sizeof text - 1, 0) > 0)
		sscanf(text, "%*d %ld", &s.delayed);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	s.cpu = cpu.tv_sec * 1000000000L + cpu.tv_nsec;
	s.wall = now_ns();
	return s;
}

/* account determines how the time of a stall was spent. The time since the previous stall was all work. */
static void account(struct rank *r, long took)
{
	const struct spent now = spent_so_far(r);
	const long delayed = now.delayed - r->before.delayed;
	const long asleep = now.wall - r->before.wall - (now.cpu - r->before.cpu) - delayed;
	if (took > r->longest) {
		r->longest = took;
		r->delayed = delayed;
		r->asleep = asleep > 0 ? asleep : 0;
	}
	r->before = spent_so_far(r);
}

static void *run(void *argument)
{
	struct rank *r = argument;
	if (r->times != NULL) {
		r->schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
		r->longest = r->asleep = r->delayed = 0;
		r->before = spent_so_far(r);
	}
	for (long k = 0; k < r->iterations; k++) {
		if (r->times == NULL) {
			r->body(r);
			continue;
		}
		const long begin = now_ns();
		r->body(r);
		r->times[k] = now_ns() - begin;
		if (r->times[k] >= stall)
			account(r, r->times[k]);
	}
	if (r->times != NULL)
		close(r->schedstat);
	return NULL;
}

static double run_all(struct rank *ranks, int threads)
{
	pthread_t thread[64];
	const double begin = cpu_ns();
	for (int t = 1; t < threads; t++)
		pthread_create(&thread[t], NULL, run, &ranks[t]);
	run(&ranks[0]);
	for (int t = 1; t < threads; t++)
		pthread_join(thread[t], NULL);
	return cpu_ns() - begin;
}

static int by_length(const void *a, const void *b)
{
	const long x = *(const long *)a, y = *(const long *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 1000000;
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	struct rank ranks[64];
	int level;

	if (calls < 1 || threads < 1 || threads > 64)
		return 1;
	MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
	for (int t = 0; t < threads; t++)
		MPI_Comm_dup(MPI_COMM_SELF, &ranks[t].comm);
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
		if (argc > 3 && strcmp(argv[3], loops[i].name) != 0)
			continue;
		const long n = calls / loops[i].calls / threads;
		const long timed = n / 4 + 1;
		for (int t = 0; t < threads; t++) {
			ranks[t].iterations = n / 20 + 1; /* warm up */
			ranks[t].body = loops[i].body;
			ranks[t].times = NULL;
		}
		run_all(ranks, threads);
		for (int t = 0; t < threads; t++)
			ranks[t].iterations = n;
		const double mean = run_all(ranks, threads) / ((double)n * threads * loops[i].calls);
		long *times = malloc(sizeof *times * (size_t)timed * (size_t)threads);
		if (times == NULL)
			return 1;
		for (int t = 0; t < threads; t++) {
			ranks[t].iterations = timed;
			ranks[t].times = times + t * timed;
		}
		run_all(ranks, threads);
		const long all = timed * threads;
		int worst = 0;
		for (int t = 1; t < threads; t++)
			if (ranks[t].longest > ranks[worst].longest)
				worst = t;
		qsort(times, (size_t)all, sizeof *times, by_length);
		printf("%s %.1f %ld %ld %ld %ld\n", loops[i].name, mean, times[all - 1 - all / 1000], times[all - 1],
			ranks[worst].asleep, ranks[worst].delayed);
		free(times);
	}
	printf("Memory %ld 0 0\n", resident_kib());
	const double begin = cpu_ns();
	MPI_Finalize();
	printf("Finalize %.1f 0 0\n", cpu_ns() - begin);
	return 0;
}
