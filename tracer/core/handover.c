// The hand-over of segments between the application's threads and the one thread of the Go runtime that compresses
// them (docs/decisions/0030-fast-path.md). The application's threads never enter Go: they leave a full segment in a
// list, take a fresh one from another, and wake the compressor when there is work worth waking for: being woken, and going
// to sleep again, costs it more than a segment does. They wait for it only when it is many segments behind, or when
// there is no fresh one.
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
	BATCH = 8,        // full segments that are worth waking the compressor for
	MOST_READY = 24,  // fresh segments to have ready at most; they are doubled whenever a thread had to wait for one,
	                  // and those that a checkpoint frees cost nothing: no thread waits for the next checkpoint
	MANY_QUEUED = 24, // full segments that are not compressed yet: who hands over more pauses until one of them is
	MOST_QUEUED = 36, // and here until there are fewer: so a rank of four threads stays below 32 MiB
	PAUSE = 100000    // ns at most: many short pauses, that no call takes long
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cairn_segment *fresh;
static uint32_t ready, target = CAIRN_READY;
static struct cairn_event *first, **last = &first;
static uint32_t queued;  // full segments that are not worked off
static uint32_t adopted; // and those from before there was a core, for which nobody waits
static uint32_t waiting; // threads that wait
static uint32_t starving; // those of them that found no fresh segment since the last one was supplied
static uint64_t largest; // that one of them needs
static int ended;
static struct cairn_stalls stalls;

// What a thread at a marker asks, at most one at a time.
static enum { NO_QUESTION, ASKED, HEARD } question;
static uint64_t answers;
static uint64_t ballot[CAIRN_BALLOT];
static int answered_well;

// What is slept on: each change of what the sleeper waits for counts up.
static _Atomic uint32_t work, room, answer;
static _Atomic uint32_t idle; // the compressor sleeps

// work_is_due reports whether the compressor is to be woken. The lock is held.
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

// wait_for_room lets the compressor work until it has done or supplied something. The lock is held, but not meanwhile.
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

// stalled counts a wait that began then, 0 for none. The lock is held.
static void stalled(uint64_t began)
{
	const uint64_t ns = began != 0 ? monotonic_ns() - began : 0;

	stalls.count += began != 0;
	stalls.total_ns += ns;
	if (stalls.longest_ns < ns)
		stalls.longest_ns = ns;
}

static void tell(struct cairn_event *e, struct cairn_segment *s, uint32_t thread, uint32_t full)
{
	e->next = NULL;
	e->segment = s;
	e->thread = thread;
	e->full = full;
	e->own = 0;
	*last = e;
	last = &e->next;
}

static struct cairn_segment *take(uint64_t minimum)
{
	for (struct cairn_segment **at = &fresh; *at != NULL; at = &(*at)->next)
		if ((*at)->capacity >= minimum) {
			struct cairn_segment *s = *at;
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
	struct cairn_segment *old = full, *s = NULL;
	// read now: while we wait, what we hand over may become another thread's
	const uint64_t sequence = old != NULL ? old->sequence + 1 : 0;
	uint64_t began = 0; // to wait

	pthread_mutex_lock(&lock);
	if (old != NULL && !ended) {
		tell(&old->full, old, thread, 1);
		queued++;
	}
	for (int waited = 0; !ended; waited = 1) {
		if (queued < MOST_QUEUED && (s = take(minimum)) != NULL)
			break;
		if (queued < MOST_QUEUED) {
			if (waited == 0)
				target = target * 2 < MOST_READY ? target * 2 : MOST_READY;
			if (largest < minimum)
				largest = minimum;
			starving++;
		}
		if (waited == 0)
			began = monotonic_ns();
		wait_for_room(NULL);
	}
	if (s != NULL) {
		cairn_segment_begin(s, thread, sequence);
		*capacity = s->capacity;
		tell(&s->given, s, thread, 0);
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
	const struct timespec second = {.tv_sec = 1}; // then the time is looked at
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
	if (question == NO_QUESTION && !ended) { // else an earlier one was given up and is not answered yet
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
	static uint64_t worked; // when there was work last: after a second what there is is worked off, were it one segment
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
		question = HEARD;
	largest = 0;
	if (starving != 0 && *wanted == 0)
		*wanted = 1;
	pthread_mutex_unlock(&lock);
	return events;
}

uint32_t cairn_worked_off(uint32_t spare)
{
	pthread_mutex_lock(&lock);
	if (adopted != 0) // they came first
		adopted--;
	else
		queued--;
	const uint32_t at_hand = ready + spare < MOST_READY ? ready + spare : MOST_READY, enough = target > at_hand ? target : at_hand;
	const uint32_t w = waiting, wanted = ready < enough ? enough - ready : 0;
	pthread_mutex_unlock(&lock);
	if (w != 0)
		wake(&room);
	return wanted;
}

void cairn_supply(void *segment, uint64_t capacity)
{
	struct cairn_segment *s = segment;

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
