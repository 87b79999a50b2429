#include "threads.h"

#include "die.h"
#include "mpih.h"
#include "table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

bool cr_several_threads;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool began;
static int known = 1; // threads that the tracer may know
static int running; // threads that have calls left
static struct thread *all;
static int several; // total number

void cr_threads_may_begin(void)
{
	pthread_mutex_lock(&mutex);
	began = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void wait_to_begin(void)
{
	pthread_mutex_lock(&mutex);
	while (!began)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

void cr_wait_for_threads(void)
{
	pthread_mutex_lock(&mutex);
	while (running > 1)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void ended(struct thread *t)
{
	pthread_mutex_lock(&mutex);
	t->ended = true;
	running--;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

// A call that frees what other threads use waits until they have made the calls that preceded it.
static void wait_for_calls(struct call *c)
{
	const int64_t n = cr_number(c);

	for (int64_t i = 0; i < n; i++) {
		const int64_t number = cr_number(c), calls = cr_number(c);
		if (number < 0 || number >= several || number == c->thread->number || calls < 0)
			cr_damaged(c, "a thread that there cannot be");
		pthread_mutex_lock(&mutex);
		while (all[number].done < (uint64_t)calls && !all[number].ended)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
	}
}

static void done(struct thread *t, const struct call *c)
{
	pthread_mutex_lock(&mutex);
	t->done = c->index;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void *run(void *argument)
{
	struct thread *t = argument;
	struct call c = {.thread = t, .stream = &t->stream};

	while (cr_next_call(&c)) {
		if (c.function >= cr_functions || cr_table[c.function].issue == NULL)
			cr_refuse("call %llu is of function %d of MPI, which this MPI does not have", (unsigned long long)c.index, c.function);
		if (c.flags & CR_AFTER)
			wait_for_calls(&c);
		cr_table[c.function].issue(&c);
		if (c.next != c.words)
			cr_damaged(&c, "more arguments than it has");
		if (cr_several_threads)
			done(t, &c);
	}
	ended(t);
	return NULL;
}

// The tracer numbers threads in the order of their first calls. So that a traced re-execution has
// the numbers of the run, each makes one in the order of the run's, which has no effect.
static void become_known(const struct thread *t)
{
	MPI_Aint address;

	pthread_mutex_lock(&mutex);
	while (known < t->number)
		pthread_cond_wait(&changed, &mutex);
	MPI_Get_address(t, &address);
	known++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

// A thread other than the first calls MPI only after the first one has initialized it.
static void *run_later(void *argument)
{
	wait_to_begin();
	become_known(argument);
	return run(argument);
}

void cr_run_threads(const int *files, int n)
{
	struct thread *threads = calloc((size_t)n, sizeof(*threads));
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));

	if (threads == NULL || ids == NULL)
		cr_die("out of memory");
	cr_several_threads = n > 1;
	running = several = n;
	all = threads;
	for (int i = 0; i < n; i++) {
		threads[i].number = i;
		cr_open_stream(&threads[i].stream, files[i]);
	}
	for (int i = 1; i < n; i++) {
		const int error = pthread_create(&ids[i], NULL, run_later, &threads[i]);
		if (error != 0)
			cr_die("cannot start a thread: %s", strerror(error));
	}
	run(&threads[0]);
	for (int i = 1; i < n; i++)
		pthread_join(ids[i], NULL);
}
