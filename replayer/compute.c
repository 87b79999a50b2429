#include "compute.h"

#include "die.h"
#include "mpih.h"
#include "table.h"
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The replayer's own calls are PMPI_*, and the tracer is not to record them
// (docs/decisions/0112-every-call-once.md).
static const struct {
	unsigned name_size, size, type;
	char name[8];
} hidden_calls __attribute__((section(".note.cairn"), aligned(4), used)) = {6, 0, 1, "Cairn"};

static enum cr_compute how;
static double scale = 1, recorded;
static int ranks;
static int64_t began; // ns

enum {
	LEAST = 1000, // ns: anything shorter is over by the time the clock has been read
};

void cr_set_compute(enum cr_compute h, double s)
{
	how = h;
	scale = s;
}

void cr_set_recorded(double seconds)
{
	recorded = seconds;
}

void cr_set_ranks(int n)
{
	ranks = n;
}

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// The replayer's own work since the last call returned is part of the computation.
void cr_enter(struct call *c)
{
	struct thread *t = c->thread;
	const double ns = (double)c->compute * scale;

	if (how == CR_NONE || ns < LEAST || ns > 1e18)
		return;
	if (how == CR_SLEEP) {
		const int64_t until = (t->left != 0 ? t->left : now(CLOCK_MONOTONIC)) + (int64_t)ns;
		const struct timespec at = {until / 1000000000, until % 1000000000};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
			;
	} else {
		const int64_t until = (t->left_cpu != 0 ? t->left_cpu : now(CLOCK_THREAD_CPUTIME_ID)) + (int64_t)ns;
		while (now(CLOCK_THREAD_CPUTIME_ID) < until)
			;
	}
}

void cr_left(struct call *c, int result)
{
	if (result != MPI_SUCCESS && (c->flags & CR_MAY_FAIL) == 0) {
		char text[MPI_MAX_ERROR_STRING] = "";
		int n = 0;
		PMPI_Error_string(result, text, &n);
		cr_die("call %llu, %s, failed: %s", (unsigned long long)c->index, cr_table[c->function].name, text);
	}
	if (how == CR_SLEEP)
		c->thread->left = now(CLOCK_MONOTONIC);
	else if (how == CR_BUSY)
		c->thread->left_cpu = now(CLOCK_THREAD_CPUTIME_ID);
}

void cr_initialized(struct call *c)
{
	int rank = -1, size = -1;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != ranks && rank != 0)
		exit(EXIT_FAILURE); // rank 0 prints the reason
	if (rank != cr_rank || size != ranks)
		cr_refuse("it is rank %d of %d in MPI_COMM_WORLD, and the recorded run had %d ranks", rank, size, ranks);
	PMPI_Barrier(MPI_COMM_WORLD);
	began = now(CLOCK_MONOTONIC);
	cr_left(c, MPI_SUCCESS);
	cr_threads_may_begin();
}

void cr_before_finalize(struct call *c)
{
	cr_wait_for_threads();
	if (began == 0)
		return;
	cr_enter(c);
	c->compute = 0;
	double seconds = (double)(now(CLOCK_MONOTONIC) - began) / 1e9, longest = 0;
	PMPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (cr_rank != 0)
		return;
	char line[256];
	snprintf(line, sizeof(line), "cairn: executed again in %.6f s", longest);
	if (recorded > 0)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "; the recorded run took %.6f s (%+.1f%%)", recorded,
			100 * (longest / recorded - 1));
	fprintf(stderr, "%s\n", line);
}
