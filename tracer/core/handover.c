// The hand-over of segments between the application's threads and the one thread of the Go runtime that compresses
// them (docs/decisions/0030-fast-path.md). The application's threads never enter Go: they leave a full segment in a
// list, take a fresh one from another, and wake the compressor if it sleeps. They wait for it only when it is mostQueued
// segments behind, or when there is no fresh one.
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
#include <unistd.h>

// What the shim and the recorder know of a segment's header, and behind it what only this file knows.
struct segment {
	char magic[8];
	uint32_t format, thread;
	uint64_t sequence;
	_Atomic uint64_t used;
	uint64_t dropped;
	uint64_t sample[3];
	char stopped[1024];
	// not part of the format: what follows means nothing to who finds the file
	struct cairn_event given, full;
	struct segment *next; // of the fresh ones
	uint64_t capacity;
};

enum {
	FORMAT = 1,
	READY = 4,       // fresh segments to have ready, at first
	MOST_READY = 32, // and at most; doubled whenever a thread had to wait for one
	MOST_QUEUED = 32 // full segments that are not compressed yet: who is beyond waits
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct segment *fresh;
static uint32_t ready, target = READY;
static struct cairn_event *first, **last = &first;
static uint32_t queued;  // full segments that are not worked off
static uint32_t waiting; // threads that wait
static uint32_t starving; // those of them that found no fresh segment since the last one was supplied
static uint64_t largest; // that one of them needs
static int ended;

// What is slept on: each change of what the sleeper waits for counts up.
static _Atomic uint32_t work, room;
static _Atomic uint32_t idle; // the compressor sleeps

static void sleep_on(_Atomic uint32_t *word, uint32_t seen)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void wake(_Atomic uint32_t *word)
{
	atomic_fetch_add(word, 1);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void tell(struct cairn_event *e, struct segment *s, uint32_t thread, uint32_t full)
{
	e->next = NULL;
	e->segment = s;
	e->thread = thread;
	e->full = full;
	*last = e;
	last = &e->next;
}

static struct segment *take(uint64_t minimum)
{
	for (struct segment **at = &fresh; *at != NULL; at = &(*at)->next)
		if ((*at)->capacity >= minimum) {
			struct segment *s = *at;
			*at = s->next;
			ready--;
			return s;
		}
	return NULL;
}

// The header of a segment that was used before becomes that of a new one. A process can be killed between any two
// stores: without its magic a segment is none, and with it all of the header is there.
static void write_header(struct segment *s, uint32_t thread, uint64_t sequence)
{
	memset(s->magic, 0, sizeof(s->magic));
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&s->used, 0, memory_order_release);
	s->format = FORMAT;
	s->thread = thread;
	s->sequence = sequence;
	s->dropped = 0;
	memset(s->sample, 0, sizeof(s->sample));
	s->stopped[0] = 0;
	atomic_thread_fence(memory_order_release);
	memcpy(s->magic, "CAIRNSEG", sizeof(s->magic));
}

__attribute__((visibility("default")))
void *cairn_core_segment(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity)
{
	const int saved = errno;
	struct segment *old = full, *s = NULL;
	// read now: while we wait, what we hand over may become another thread's
	const uint64_t sequence = old != NULL ? old->sequence + 1 : 0;

	pthread_mutex_lock(&lock);
	if (old != NULL && !ended) {
		tell(&old->full, old, thread, 1);
		queued++;
	}
	for (int waited = 0; !ended; waited = 1) {
		if (queued < MOST_QUEUED && (s = take(minimum)) != NULL)
			break;
		if (queued < MOST_QUEUED) {
			if (waited == 0 && target < MOST_READY)
				target = target < READY ? READY : 2 * target;
			if (largest < minimum)
				largest = minimum;
			starving++;
		}
		waiting++;
		const uint32_t seen = atomic_load(&room);
		pthread_mutex_unlock(&lock);
		wake(&work);
		sleep_on(&room, seen);
		pthread_mutex_lock(&lock);
		waiting--;
	}
	if (s != NULL) {
		write_header(s, thread, sequence);
		*capacity = s->capacity;
		tell(&s->given, s, thread, 0);
	}
	pthread_mutex_unlock(&lock);
	if (atomic_load(&idle))
		wake(&work);
	errno = saved;
	return s;
}

struct cairn_event *cairn_await(uint32_t *wanted, uint64_t *minimum, uint32_t *starved)
{
	struct cairn_event *events;

	pthread_mutex_lock(&lock);
	for (;;) {
		// What a thread was only given is no work yet.
		if (queued != 0 || ready < target || starving != 0)
			break;
		const uint32_t seen = atomic_load(&work);
		atomic_store(&idle, 1);
		pthread_mutex_unlock(&lock);
		sleep_on(&work, seen);
		pthread_mutex_lock(&lock);
		atomic_store(&idle, 0);
	}
	events = first;
	first = NULL;
	last = &first;
	*wanted = ready < target ? target - ready : 0;
	*minimum = largest;
	*starved = starving != 0;
	largest = 0;
	if (starving != 0 && *wanted == 0)
		*wanted = 1;
	pthread_mutex_unlock(&lock);
	return events;
}

void cairn_worked_off(uint32_t n)
{
	pthread_mutex_lock(&lock);
	queued -= n;
	const uint32_t w = waiting;
	pthread_mutex_unlock(&lock);
	if (w != 0)
		wake(&room);
}

void cairn_supply(void *segment, uint64_t capacity)
{
	struct segment *s = segment;

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

void cairn_end(void)
{
	pthread_mutex_lock(&lock);
	ended = 1;
	pthread_mutex_unlock(&lock);
	wake(&room);
}
