// SPDX-License-Identifier: Apache-2.0
// A program with planted problems, for the tests of the verdict. Package internal/plant draws the parameters and says what is
// true of them; `go run ./bench plant` has the kinds in words.
//
//   plants --iterations N --work-us W [--noise PERCENT] [--seed N] [--scratch DIR] [--mended]
//          [--kind KIND [--amount-us A] [--who RANK] [--region 0-2] [--every N] [--phase 0-2] [--phases 1|3] [--count N]
//           [--device]]...
//   plants --hog
//
// In each iteration a rank computes for W µs of CPU time in three regions, and communicates after each. Every --kind adds a
// problem, with the options that follow it. A is what that takes in an iteration, in µs, and with --device time in
// which the rank waits for a device. --mended leaves the problems out.
// CPU time is what the thread really ran: with few cores the same work takes longer. --hog burns CPU until it is killed.
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define noinline __attribute__((noinline))
#define MAX_PROBLEMS 4

struct problem {
	const char *kind;
	long amount_us;
	int who, region, every, phase, phases, count;
	bool device;
};

static struct problem problems[MAX_PROBLEMS];
static int problem_count, iterations = 40, rank, size;
static long work_us = 3000, seed;
static double noise = 2;
static bool mended;
static const char *scratch = ".";
static const double share[] = {0.5, 0.3, 0.2};

/* --- time --- */

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static noinline void burn(double us)
{
	static volatile double sink;
	for (double end = seconds(CLOCK_THREAD_CPUTIME_ID) + 1e-6 * us; seconds(CLOCK_THREAD_CPUTIME_ID) < end;)
		for (int i = 0; i < 2000; i++)
			sink = sink * 0.999 + 1;
}

static noinline void pause_for(double us)
{
	if (us <= 0)
		return;
	struct timespec t = {.tv_sec = (time_t)(us / 1e6), .tv_nsec = (long)(us * 1e3) % 1000000000};
	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* chance is a number from 0 to 1 that depends on its arguments only. */
static double chance(int a, int b)
{
	unsigned long h = (unsigned long)seed * 0x9e3779b97f4a7c15UL + (unsigned long)a * 0xbf58476d1ce4e5b9UL + (unsigned long)b;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9UL;
	h = (h ^ h >> 27) * 0x94d049bb133111ebUL;
	return (double)((h ^ h >> 31) >> 11) / 9007199254740992.0;
}

/* spend computes, or has a device compute. */
static void spend(const struct problem *p, double us)
{
	if (p->device)
		pause_for(us);
	else
		burn(us);
}

static double noisy(double us, int iteration, int what)
{
	return us * (1 + noise / 100 * chance(rank, iteration * 16 + what));
}

/* --- problems of computation --- */

static bool is(const struct problem *p, const char *kind) { return strcmp(p->kind, kind) == 0; }

static int third(int iteration) { return 3 * iteration / iterations; }

static int turn(int iteration) { return (int)((iteration + seed) % size); }

/* A thread of a team. */
struct member {
	pthread_t thread;
	double us;
};

static void *compute_in_thread(void *arg)
{
	burn(((struct member *)arg)->us);
	return NULL;
}

/* team computes with threads that share the work; the last one has additional work. */
static noinline void team(int threads, double us, double more)
{
	struct member members[8];
	for (int i = 1; i < threads; i++) {
		members[i].us = us / threads + (i == threads - 1 ? more : 0);
		pthread_create(&members[i].thread, NULL, compute_in_thread, &members[i]);
	}
	burn(us / threads);
	for (int i = 1; i < threads; i++)
		pthread_join(members[i].thread, NULL);
}

/* write_file writes and syncs a file for the given time. */
static noinline void write_file(double us)
{
	static char block[1 << 18];
	char path[4096];
	snprintf(path, sizeof path, "%s/rank-%d", scratch, rank);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	if (fd < 0) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (double end = seconds(CLOCK_MONOTONIC) + 1e-6 * us; seconds(CLOCK_MONOTONIC) < end;)
		if (pwrite(fd, block, sizeof block, 0) < 0 || fsync(fd) < 0)
			perror(path);
	close(fd);
}

/* extra is what a problem adds to the computation of a region in an iteration. */
static void extra(const struct problem *p, int region, int i)
{
	double a = (double)p->amount_us;
	bool me = rank == p->who && !mended;
	if (region != p->region)
		return;
	if (is(p, "slow-rank") && me)
		burn(a);
	else if (is(p, "sometimes") && me && i % p->every == p->every - 1)
		burn(a * p->every);
	else if (is(p, "phase") && me && third(i) == p->phase)
		burn(3 * a);
	else if (is(p, "blocked") && me)
		pause_for(a);
	else if (is(p, "rank-io") && me && i % p->every == p->every - 1)
		write_file(a * p->every);
	else if (is(p, "slow-thread") && rank == p->who)
		team(p->count, (double)work_us * share[region], mended ? 0 : a);
	else if (is(p, "moving"))
		spend(p, mended ? a / size : turn(i) == rank ? a : 0);
	else if (is(p, "heavy")) { /* each rank twice as long as the one before, from some rank on */
		int degree = (rank - p->who + size) % size;
		double all = (1 << size) - 1;
		spend(p, mended ? a * 2 / size : a * 2 * (1 << degree) / (all + 1));
	}
}

static void compute(int region, int i)
{
	bool threads = false;
	for (int k = 0; k < problem_count; k++)
		threads |= is(&problems[k], "slow-thread") && rank == problems[k].who && region == problems[k].region;
	if (!threads)
		burn(noisy((double)work_us * share[region], i, region));
	for (int k = 0; k < problem_count; k++)
		extra(&problems[k], region, i);
}

/* --- the program around the problems --- */

static char halo[4][1024];

static noinline void assemble(int i)
{
	MPI_Request requests[4];
	MPI_Status statuses[4]; /* MPICH's MPI_STATUSES_IGNORE worries gcc */
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	compute(0, i);
	MPI_Irecv(halo[0], sizeof halo[0], MPI_CHAR, previous, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(halo[1], sizeof halo[1], MPI_CHAR, next, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(halo[2], sizeof halo[2], MPI_CHAR, next, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(halo[3], sizeof halo[3], MPI_CHAR, previous, 1, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, statuses);
}

static noinline void solve(int i)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	compute(1, i);
	MPI_Sendrecv(halo[2], sizeof halo[2], MPI_CHAR, next, 2, halo[0], sizeof halo[0], MPI_CHAR, previous, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static noinline void update(int i)
{
	double mine = 1, sum;
	compute(2, i);
	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static noinline void iterate(int i)
{
	assemble(i);
	solve(i);
	update(i);
}

/* Two phases with call sites other than those of iterate. */
static noinline void second_phase(int i)
{
	double mine = 1, sum;
	compute(0, i);
	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	compute(1, i);
	MPI_Barrier(MPI_COMM_WORLD);
	compute(2, i);
	MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static noinline void third_phase(int i)
{
	int next = (rank + 1) % size, previous = (rank + size - 1) % size;
	compute(0, i);
	MPI_Barrier(MPI_COMM_WORLD);
	compute(1, i);
	MPI_Sendrecv(halo[2], sizeof halo[2], MPI_CHAR, next, 3, halo[0], sizeof halo[0], MPI_CHAR, previous, 3, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	compute(2, i);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* --- problems of ranks that wait --- */

static noinline void chain(const struct problem *p, int i)
{
	int token = 0;
	if (!mended && rank > 0)
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	spend(p, noisy((double)p->amount_us / size, i, 4));
	if (!mended && rank < size - 1)
		MPI_Send(&token, 1, MPI_INT, rank + 1, 10, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

static noinline void pipeline(const struct problem *p, int i)
{
	int blocks = p->count * (mended ? 8 : 1);
	double sweep = (double)p->amount_us * p->count / (size - 1);
	for (int k = 0; k < blocks; k++) {
		if (rank > 0)
			MPI_Recv(halo[0], sizeof halo[0], MPI_CHAR, rank - 1, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		spend(p, noisy(sweep / blocks, i, 4));
		if (rank < size - 1)
			MPI_Send(halo[2], sizeof halo[2], MPI_CHAR, rank + 1, 11, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static noinline void serial(const struct problem *p, int i)
{
	if (mended)
		spend(p, noisy((double)p->amount_us / size, i, 4));
	else if (rank == p->who)
		spend(p, noisy((double)p->amount_us, i, 4));
	MPI_Bcast(halo[0], sizeof halo[0], MPI_CHAR, p->who, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The size from which a message needs its receiver. */
#define LARGE (1 << 20)
#define SLICES 40 /* of the computation of a receiver that polls for its messages: an unsuccessful poll may take 0.1 ms */
static char *large;

/* The rank before p->who sends to it, and both compute for the same time; the others wait for something else. */
static noinline void late_receiver(const struct problem *p, int i)
{
	double a = noisy((double)p->amount_us, i, 4);
	int bytes = p->count ? LARGE : 64;
	MPI_Request request;
	if (rank == p->who && mended) {
		int from = (rank + size - 1) % size, done = 0;
		MPI_Irecv(large, bytes, MPI_CHAR, from, 12, MPI_COMM_WORLD, &request);
		for (int k = 0; k < SLICES; k++) { /* now and then inside MPI */
			burn(a / SLICES);
			if (!done)
				MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		}
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if (rank == p->who) {
		burn(a);
		MPI_Recv(large, bytes, MPI_CHAR, (rank + size - 1) % size, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if ((rank + 1) % size == p->who) {
		if (p->count)
			MPI_Send(large, bytes, MPI_CHAR, p->who, 12, MPI_COMM_WORLD);
		else
			MPI_Ssend(large, bytes, MPI_CHAR, p->who, 12, MPI_COMM_WORLD);
		burn(a);
	} else
		pause_for(a);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The same with a receive that is posted in time. */
static noinline void no_progress(const struct problem *p, int i)
{
	double a = noisy((double)p->amount_us, i, 4);
	MPI_Request request;
	if (rank == p->who) {
		int done = 0;
		MPI_Irecv(large, LARGE, MPI_CHAR, (rank + size - 1) % size, 13, MPI_COMM_WORLD, &request);
		for (int k = 0; mended && k < SLICES; k++) {
			burn(a / SLICES);
			if (!done)
				MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		}
		if (!mended)
			burn(a);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if ((rank + 1) % size == p->who) {
		MPI_Send(large, LARGE, MPI_CHAR, p->who, 13, MPI_COMM_WORLD);
		burn(a);
	} else
		pause_for(a);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* --- problems of calls --- */

static noinline void many_messages(const struct problem *p)
{
	int partner = rank ^ 1, count = mended ? 1 : p->count, bytes = mended ? 8 * p->count : 8;
	if (partner >= size)
		return;
	for (int way = 0; way < 2; way++)
		for (int k = 0; k < count; k++)
			if (way == rank % 2)
				MPI_Send(large, bytes, MPI_CHAR, partner, 14, MPI_COMM_WORLD);
			else
				MPI_Recv(large, bytes, MPI_CHAR, partner, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static noinline void large_messages(const struct problem *p)
{
	int bytes = mended ? 64 : p->count;
	static char *out, *in;
	if (!out) {
		out = calloc(1, (size_t)p->count);
		in = calloc(1, (size_t)p->count);
	}
	MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 15, in, bytes, MPI_CHAR, (rank + size - 1) % size, 15, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static noinline void many_collectives(const struct problem *p)
{
	double mine = 1, sum;
	for (int k = 0; k < (mended ? 1 : p->count); k++)
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static noinline void large_collectives(const struct problem *p)
{
	int bytes = mended ? 64 : p->count;
	static char *out, *in;
	if (!out) {
		out = calloc((size_t)size, (size_t)p->count);
		in = calloc((size_t)size, (size_t)p->count);
	}
	MPI_Alltoall(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static noinline void file_io(const struct problem *p)
{
	static char block[1 << 18];
	char path[4096];
	MPI_File file;
	if (mended)
		return;
	snprintf(path, sizeof path, "%s/common", scratch);
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
	for (int k = 0; k < p->count; k++) {
		MPI_Offset at = (MPI_Offset)((size_t)(k * size + rank) * sizeof block);
		MPI_File_write_at_all(file, at, block, sizeof block, MPI_CHAR, MPI_STATUS_IGNORE);
		MPI_File_sync(file);
	}
	MPI_File_close(&file);
}

static void step(const struct problem *p, int i)
{
	if (is(p, "chain"))
		chain(p, i);
	else if (is(p, "pipeline"))
		pipeline(p, i);
	else if (is(p, "serial"))
		serial(p, i);
	else if (is(p, "late-receiver"))
		late_receiver(p, i);
	else if (is(p, "no-progress"))
		no_progress(p, i);
	else if (is(p, "many-messages"))
		many_messages(p);
	else if (is(p, "large-messages"))
		large_messages(p);
	else if (is(p, "many-collectives"))
		many_collectives(p);
	else if (is(p, "large-collectives"))
		large_collectives(p);
	else if (is(p, "file-io"))
		file_io(p);
}

/* --- master and workers --- */

enum { TASK = 20, RESULT, NO_MORE };

static noinline void hand_out(const struct problem *p, double prepare_us)
{
	int tasks = p->count * (size - 1), given = 0, task = 0;
	MPI_Status status;
	for (int k = 0; k < size - 1 + tasks; k++) {
		int to = k + 1;
		if (k >= size - 1) {
			MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
			to = status.MPI_SOURCE;
		}
		if (given < tasks) {
			spend(p, prepare_us);
			given++;
			MPI_Send(&task, 1, MPI_INT, to, TASK, MPI_COMM_WORLD);
		} else
			MPI_Send(&task, 1, MPI_INT, to, NO_MORE, MPI_COMM_WORLD);
	}
}

static noinline void process_tasks(const struct problem *p, double us, int i)
{
	int task;
	MPI_Status status;
	for (int k = 0;; k++) {
		MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		if (status.MPI_TAG == NO_MORE)
			return;
		spend(p, noisy(us, i, k));
		MPI_Send(&task, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
	}
}

/* farm is a master with workers; the amount is the time of the master for a task, or the additional time of a slow worker. */
static noinline void farm(const struct problem *p, int i)
{
	double a = (double)p->amount_us;
	bool busy = is(p, "master");
	if (rank == 0)
		hand_out(p, busy ? (mended ? a / 20 : a) : 1);
	else
		process_tasks(p, (double)work_us + (!busy && !mended && rank == p->who ? a : 0), i);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* --- failures, in the middle of the run --- */

static void fail(const struct problem *p, int i)
{
	int token = 0;
	double mine = 1, sum;
	if (i != iterations / 2)
		return;
	if (is(p, "deadlock")) {
		MPI_Recv(&token, 1, MPI_INT, (rank + 1) % size, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&token, 1, MPI_INT, (rank + size - 1) % size, 30, MPI_COMM_WORLD);
	} else if (is(p, "wrong-collective") && rank == p->who)
		MPI_Barrier(MPI_COMM_WORLD);
	else if (is(p, "wrong-collective"))
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else if (is(p, "crash") && rank == p->who)
		raise(SIGSEGV);
	else if (is(p, "exit") && rank == p->who)
		exit(3);
}

/* --- */

static const struct problem *find(const char *kind)
{
	for (int k = 0; k < problem_count; k++)
		if (is(&problems[k], kind))
			return &problems[k];
	return NULL;
}

static void run(void)
{
	const struct problem *master = find("master"), *slow_worker = find("slow-worker"), *missing = find("missing-rank");
	const struct problem *phases = find("phase");
	double mine = 1, sum;
	for (int i = 0; i < iterations; i++) {
		if (master || slow_worker) {
			farm(master ? master : slow_worker, i);
			continue;
		}
		for (int k = 0; k < problem_count; k++)
			fail(&problems[k], i);
		if (missing && rank == missing->who && i == iterations - 1)
			break;
		if (phases && phases->phases == 3 && third(i) == 1)
			second_phase(i);
		else if (phases && phases->phases == 3 && third(i) == 2)
			third_phase(i);
		else
			iterate(i);
		for (int k = 0; k < problem_count; k++)
			step(&problems[k], i);
	}
	MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* rank_before_init is the rank according to the launcher. */
static int rank_before_init(void)
{
	const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
	for (int i = 0; i < 3; i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	fprintf(stderr, "plants: no rank in the environment\n");
	exit(2);
}

static void parse(int argc, char **argv)
{
	struct problem none = {0}, *p = &none;
	for (int i = 1; i < argc; i++) {
		const char *option = argv[i];
		if (strcmp(option, "--mended") == 0) {
			mended = true;
			continue;
		}
		if (strcmp(option, "--device") == 0) {
			p->device = true;
			continue;
		}
		if (i + 1 == argc) {
			fprintf(stderr, "plants: %s: no value\n", option);
			exit(2);
		}
		const char *value = argv[++i];
		if (strcmp(option, "--kind") == 0 && problem_count < MAX_PROBLEMS) {
			p = &problems[problem_count++];
			*p = (struct problem){.kind = value, .phases = 1, .every = 1, .count = 1};
		} else if (strcmp(option, "--iterations") == 0)
			iterations = atoi(value);
		else if (strcmp(option, "--work-us") == 0)
			work_us = atol(value);
		else if (strcmp(option, "--noise") == 0)
			noise = atof(value);
		else if (strcmp(option, "--seed") == 0)
			seed = atol(value);
		else if (strcmp(option, "--scratch") == 0)
			scratch = value;
		else if (strcmp(option, "--amount-us") == 0)
			p->amount_us = atol(value);
		else if (strcmp(option, "--who") == 0)
			p->who = atoi(value);
		else if (strcmp(option, "--region") == 0)
			p->region = atoi(value);
		else if (strcmp(option, "--every") == 0)
			p->every = atoi(value);
		else if (strcmp(option, "--phase") == 0)
			p->phase = atoi(value);
		else if (strcmp(option, "--phases") == 0)
			p->phases = atoi(value);
		else if (strcmp(option, "--count") == 0)
			p->count = atoi(value);
		else {
			fprintf(stderr, "plants: unknown option %s\n", option);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--hog") == 0)
		for (;;)
			burn(1e6);
	parse(argc, argv);
	const struct problem *start = find("start"), *end = find("end");
	if (start && !mended && rank_before_init() == start->who) {
		if (start->count)
			pause_for((double)start->amount_us * iterations);
		else
			burn((double)start->amount_us * iterations);
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	large = calloc(1, LARGE);
	run();
	if (end && !mended && rank == end->who)
		burn((double)end->amount_us * iterations);
	MPI_Finalize();
	return 0;
}
