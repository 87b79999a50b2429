// Transfer of record buffers between the application's threads and the Go runtime's one compressor
// thread (docs/decisions/0030-fast-path.md). The application's threads never enter Go. They append
// a full buffer to a list and take a fresh one from another. They wake the compressor only for a
// batch, because waking up and going to sleep again costs it more than processing a buffer. They
// wait for it only if it is many buffers behind, or if there is no fresh one.
#define _GNU_SOURCE
#include "handover.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)

enum {
	BATCH = 8,        // number of full buffers that the compressor is woken for
	MAX_READY = 24,  // maximal number of fresh buffers to keep ready. The target doubles whenever a thread has to wait for
	                  // one. Buffers that a checkpoint frees cost nothing, and avoid waiting during
	                  // the next checkpoint.
	MANY_QUEUED = 24, // uncompressed full buffers above which a thread that adds one pauses until one is compressed
	MAX_QUEUED = 36, // number above which threads wait until there are fewer: a rank of four threads stays below 32 MiB
	PAUSE = 100000    // maximal pause in ns: many short pauses, so that no call takes long
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cairn_buffer *fresh;
static uint32_t ready, target = CAIRN_READY;
static struct cairn_event *first, **last = &first;
static uint32_t queued;  // full buffers that are not compressed yet
static uint32_t adopted; // the same, from before the core was loaded; no thread waits for them
static uint32_t waiting; // threads that wait
static uint32_t starving; // those of them that found no fresh buffer since the last one was supplied
static uint64_t largest; // bytes of records that one of them needs
static int ended;
static struct cairn_stalls stalls;

// The request for a ballot by a thread at a marker; at most one at a time.
static enum { NO_QUESTION, ASKED, ACCEPTED } question;
static uint64_t answers;
static uint64_t ballot[CAIRN_BALLOT];
static int answered_well;

// Futex words; each is incremented when the condition changes that its sleepers wait for.
static _Atomic uint32_t work, room, answer;
static _Atomic uint32_t idle; // the compressor sleeps

// work_is_due reports whether the compressor should be woken. The caller must hold the lock.
static int work_is_due(void)
{
	return adopted != 0 || queued >= BATCH || ready < (target + 3) / 4 || starving != 0 || question == ASKED;
}

static void sleep_on(_Atomic uint32_t *word, uint32_t seen, const struct timespec *limit)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, limit, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

// wait_for_room waits until the compressor has processed or supplied a buffer. The caller must hold
// the lock, which is released while it waits.
static void wait_for_room(const struct timespec *limit)
{
	const uint32_t seen = atomic_load(&room);

	waiting++;
	pthread_mutex_unlock(&lock);
	wake(&work);
	sleep_on(&room, seen, limit);
	pthread_mutex_lock(&lock);
	waiting--;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

// stalled counts a wait that began at a time in ns; 0: there was none. The caller
// must hold the lock.
static void stalled(uint64_t began)
{
	const uint64_t ns = began != 0 ? monotonic_ns() - began : 0;

	stalls.count += began != 0;
	stalls.total_ns += ns;
	if (stalls.longest_ns < ns)
		stalls.longest_ns = ns;
}

static void add_event(struct cairn_event *e, struct cairn_buffer *s, uint32_t thread, uint32_t full)
{
	e->next = NULL;
	e->buffer = s;
	e->thread = thread;
	e->full = full;
	e->own = 0;
	*last = e;
	last = &e->next;
}

static struct cairn_buffer *take(uint64_t minimum)
{
	for (struct cairn_buffer **at = &fresh; *at != NULL; at = &(*at)->next)
		if ((*at)->capacity >= minimum) {
			struct cairn_buffer *s = *at;
			*at = s->next;
			ready--;
			return s;
		}
	return NULL;
}

__attribute__((visibility("default")))
void *cairn_core_segment(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity)
{
	const int saved = errno;
	struct cairn_buffer *old = full, *s = NULL;
	// read before waiting: the full buffer may be another thread's after that
	const uint64_t sequence = old != NULL ? old->sequence + 1 : 0;
	uint64_t began = 0; // start of the wait

	pthread_mutex_lock(&lock);
	if (old != NULL && !ended) {
		add_event(&old->full, old, thread, 1);
		queued++;
	}
	for (int waited = 0; !ended; waited = 1) {
		if (queued < MAX_QUEUED && (s = take(minimum)) != NULL)
			break;
		if (queued < MAX_QUEUED) {
			if (waited == 0)
				target = target * 2 < MAX_READY ? target * 2 : MAX_READY;
			if (largest < minimum)
				largest = minimum;
			starving++;
		}
		if (waited == 0)
			began = monotonic_ns();
		wait_for_room(NULL);
	}
	if (s != NULL) {
		cairn_buffer_begin(s, thread, sequence);
		*capacity = s->capacity;
		add_event(&s->given, s, thread, 0);
		if (queued >= MANY_QUEUED) {
			if (began == 0)
				began = monotonic_ns();
			wait_for_room(&(struct timespec){.tv_nsec = PAUSE});
		}
	}
	stalled(began);
	const int due = work_is_due();
	pthread_mutex_unlock(&lock);
	if (due && atomic_load(&idle))
		wake(&work);
	errno = saved;
	return s;
}

__attribute__((visibility("default")))
void cairn_core_adopt(void *events)
{
	struct cairn_event *e = events;

	pthread_mutex_lock(&lock);
	if (e != NULL)
		*last = e;
	for (; e != NULL; e = e->next) {
		last = &e->next;
		adopted += e->full;
	}
	pthread_mutex_unlock(&lock);
	wake(&work);
}

__attribute__((visibility("default")))
int cairn_core_ballot(uint64_t *out, uint64_t wait_ns)
{
	const int saved = errno;
	const struct timespec second = {.tv_sec = 1}; // interval of the checks for the timeout
	struct timespec until;
	int ok = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(wait_ns / 1000000000);
	until.tv_nsec += (long)(wait_ns % 1000000000);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&lock);
	if (question == NO_QUESTION && !ended) { // otherwise an earlier request timed out and is not answered yet
		const uint64_t before = answers;
		question = ASKED;
		for (;;) {
			struct timespec now;
			const uint32_t seen = atomic_load(&answer);
			pthread_mutex_unlock(&lock);
			wake(&work);
			sleep_on(&answer, seen, &second);
			clock_gettime(CLOCK_MONOTONIC, &now);
			pthread_mutex_lock(&lock);
			if (answers != before) {
				ok = answered_well;
				memcpy(out, ballot, sizeof(ballot));
				break;
			}
			if (ended || now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec))
				break;
		}
	}
	pthread_mutex_unlock(&lock);
	errno = saved;
	return ok;
}

void cairn_answer(const uint64_t *words, int ok)
{
	pthread_mutex_lock(&lock);
	memcpy(ballot, words, sizeof(ballot));
	answered_well = ok;
	answers++;
	question = NO_QUESTION;
	pthread_mutex_unlock(&lock);
	wake(&answer);
}

struct cairn_event *cairn_await(uint32_t *wanted, uint64_t *minimum, uint32_t *starved, uint32_t *asked)
{
	static uint64_t worked; // last time there was work: a second later even a single queued buffer is processed
	struct cairn_event *events;
	uint64_t now = monotonic_ns();

	if (worked == 0)
		worked = now;
	*wanted = *starved = *asked = 0;
	*minimum = 0;
	pthread_mutex_lock(&lock);
	while (!work_is_due() && !(queued != 0 && now - worked >= SECOND)) {
		const struct timespec limit = {.tv_sec = 1};
		const uint32_t seen = atomic_load(&work);
		atomic_store(&idle, 1);
		pthread_mutex_unlock(&lock);
		sleep_on(&work, seen, &limit);
		now = monotonic_ns();
		pthread_mutex_lock(&lock);
		atomic_store(&idle, 0);
	}
	worked = now;
	events = first;
	first = NULL;
	last = &first;
	*wanted = ready < target ? target - ready : 0;
	*minimum = largest;
	*starved = starving != 0;
	*asked = question == ASKED;
	if (question == ASKED)
		question = ACCEPTED;
	largest = 0;
	if (starving != 0 && *wanted == 0)
		*wanted = 1;
	pthread_mutex_unlock(&lock);
	return events;
}

uint32_t cairn_consumed(uint32_t spare)
{
	pthread_mutex_lock(&lock);
	if (adopted != 0) // they are first in the list
		adopted--;
	else
		queued--;
	const uint32_t at_hand = ready + spare < MAX_READY ? ready + spare : MAX_READY, enough = target > at_hand ? target : at_hand;
	const uint32_t w = waiting, wanted = ready < enough ? enough - ready : 0;
	pthread_mutex_unlock(&lock);
	if (w != 0)
		wake(&room);
	return wanted;
}

void cairn_supply(void *buffer, uint64_t capacity)
{
	struct cairn_buffer *s = buffer;

	pthread_mutex_lock(&lock);
	s->capacity = capacity;
	s->next = fresh;
	fresh = s;
	ready++;
	starving = 0;
	const uint32_t w = waiting;
	pthread_mutex_unlock(&lock);
	if (w != 0)
		wake(&room);
}

void cairn_none_left(void)
{
	pthread_mutex_lock(&lock);
	target = ready;
	pthread_mutex_unlock(&lock);
}

void cairn_stalled(struct cairn_stalls *so_far)
{
	pthread_mutex_lock(&lock);
	*so_far = stalls;
	pthread_mutex_unlock(&lock);
}

void cairn_end(void)
{
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_mutex_unlock(&lock);
	wake(&room);
	wake(&answer);
}
