// Stress test of handover.c, built with the thread sanitizer. Threads fill buffers and hand them over, as the shim
// does. A fake compressor in C takes them, checks their content, and supplies them again.
//
//	handover THREADS BUFFERS END      END: all (buffers handed over), early (the compressor stops on the way)
#include "../handover.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void *cairn_core_segment(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity);
int cairn_core_ballot(uint64_t *out, uint64_t wait_ns);

enum {
	FRONT = 64, // before a buffer: its capacity
	HEADER = 4096,
	SMALL = 4096,
	LARGE = 65536,
	MAX_THREADS = 64,
	MAX_READY = 24, // as in handover.c
	POOL = 48, // limit of buffers: sometimes there is none left
};

struct header { // the part that both sides use
	char magic[8];
	uint32_t format, thread;
	uint64_t sequence;
	_Atomic uint64_t used;
};

struct pooled {
	struct pooled *next;
	uint64_t capacity;
	void *memory;
};

static uint32_t threads;
static uint64_t buffers;
static int early;
static _Atomic uint32_t done, stopped;
static _Atomic uint64_t inside; // ns that threads were in cairn_core_segment

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#define CHECK(what)                                                                         \
	do {                                                                                \
		if (!(what)) {                                                              \
			fprintf(stderr, "handover.c:%d: %s does not hold\n", __LINE__, #what); \
			exit(1);                                                            \
		}                                                                           \
	} while (0)

static uint64_t pattern(uint32_t thread, uint64_t sequence, uint64_t at)
{
	return (uint64_t)thread << 48 ^ sequence << 16 ^ at;
}

static void *application(void *argument)
{
	const uint32_t me = (uint32_t)(uintptr_t)argument;
	void *full = NULL;

	for (uint64_t n = 0; n < buffers; n++) {
		const uint64_t minimum = (n + me) % 97 == 96 ? LARGE : SMALL;
		uint64_t capacity = 0;
		errno = 4711;
		const uint64_t before = now_ns();
		struct header *h = cairn_core_segment(me, full, minimum, &capacity);
		atomic_fetch_add(&inside, now_ns() - before);
		CHECK(errno == 4711);
		if (h == NULL) {
			CHECK(early);
			atomic_fetch_add(&stopped, 1);
			break;
		}
		CHECK(capacity >= minimum);
		CHECK(memcmp(h->magic, "CAIRNSEG", 8) == 0 && h->format == 2);
		CHECK(h->thread == me && h->sequence == n && atomic_load(&h->used) == 0);
		uint64_t *word = (uint64_t *)((char *)h + HEADER);
		for (uint64_t at = 0; at < minimum / 8; at++)
			word[at] = pattern(me, n, at);
		atomic_store_explicit(&h->used, minimum, memory_order_release);
		full = h;
		if (n % 11 == 3) { // sometimes a thread asks, sometimes with too short a timeout
			uint64_t said[CAIRN_BALLOT] = {0};
			if (cairn_core_ballot(said, n % 2 ? 1000 : 10000000000))
				CHECK(said[0] != 0 && said[1] == said[0] + 1 && said[3] == said[0] + 3);
			CHECK(errno == 4711);
		}
	}
	atomic_fetch_add(&done, 1);
	uint64_t said[CAIRN_BALLOT];
	cairn_core_ballot(said, 10000000000); // wakes the compressor, which may have finished by now
	return NULL;
}

static struct pooled *pool;
static uint32_t spare; // number of buffers in it
static int made;

static int supply(uint64_t minimum)
{
	const uint64_t capacity = minimum > SMALL ? LARGE : SMALL;
	for (struct pooled **at = &pool; *at != NULL; at = &(*at)->next)
		if ((*at)->capacity >= capacity) {
			struct pooled *p = *at;
			*at = p->next;
			spare--;
			cairn_supply(p->memory, p->capacity);
			free(p);
			return 1;
		}
	if (made == POOL + (int)threads) {
		struct pooled *small = pool;
		if (small == NULL)
			return 0;
		spare--;
		pool = small->next; // none is large enough: drop one
		free((char *)small->memory - FRONT);
		free(small);
		made--;
	}
	made++;
	char *memory = calloc(1, FRONT + HEADER + capacity);
	CHECK(memory != NULL);
	*(uint64_t *)memory = capacity;
	cairn_supply(memory + FRONT, capacity);
	return 1;
}

static void give_back(void *memory)
{
	struct pooled *p = malloc(sizeof *p);
	CHECK(p != NULL);
	*p = (struct pooled){pool, *(uint64_t *)((char *)memory - FRONT), memory};
	pool = p;
	spare++;
}

static void *compressor(void *argument)
{
	static uint64_t given[MAX_THREADS], full[MAX_THREADS]; // how many so far
	const uint64_t all = threads * (buffers - 1);           // the last of each thread stays with it
	uint64_t worked_off = 0, answers = 0;

	(void)argument;
	while ((worked_off < all || atomic_load(&done) < threads) && !(early && worked_off > all / 2)) {
		uint32_t wanted, starving, asked;
		uint64_t minimum;
		struct cairn_event *e = cairn_await(&wanted, &minimum, &starving, &asked);
		uint32_t supplied = 0;
		for (; supplied < wanted && supply(minimum); supplied++)
			minimum = 0;
		if (supplied < wanted && !starving)
			cairn_none_left();
		while (e != NULL) {
			const uint32_t thread = e->thread, is_full = e->full;
			struct header *h = e->buffer;
			e = e->next;
			CHECK(thread < threads);
			if (!is_full) {
				// its thread may not have written the header's sample yet, but what handover.c writes is there
				CHECK(h->thread == thread && h->sequence == given[thread] && given[thread] == full[thread]);
				given[thread]++;
				continue;
			}
			CHECK(h->sequence == full[thread] && given[thread] == full[thread] + 1);
			const uint64_t used = atomic_load_explicit(&h->used, memory_order_acquire);
			const uint64_t *word = (const uint64_t *)((const char *)h + HEADER);
			CHECK(used == SMALL || used == LARGE);
			for (uint64_t at = 0; at < used / 8; at++)
				CHECK(word[at] == pattern(thread, full[thread], at));
			full[thread]++;
			give_back(h);
			worked_off++;
			for (uint32_t wanted = cairn_consumed(spare); wanted > 0 && spare > 0; wanted--)
				CHECK(wanted <= MAX_READY && supply(0));
		}
		if (asked) {
			const uint64_t n = ++answers;
			cairn_answer((uint64_t[]){n, n + 1, n + 2, n + 3}, 1);
		}
		if (starving && supplied == 0 && supply(LARGE) == 0)
			supply(0);
	}
	cairn_end();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS], go;

	CHECK(argc == 4);
	threads = (uint32_t)atoi(argv[1]);
	buffers = (uint64_t)atoll(argv[2]);
	early = strcmp(argv[3], "early") == 0;
	CHECK(threads >= 1 && threads <= MAX_THREADS && buffers > 1);
	CHECK(pthread_create(&go, NULL, compressor, NULL) == 0);
	for (uint32_t t = 0; t < threads; t++)
		CHECK(pthread_create(&thread[t], NULL, application, (void *)(uintptr_t)t) == 0);
	for (uint32_t t = 0; t < threads; t++)
		pthread_join(thread[t], NULL);
	pthread_join(go, NULL);
	CHECK(atomic_load(&done) == threads);
	struct cairn_stalls stalls;
	cairn_stalled(&stalls);
	CHECK(stalls.longest_ns <= stalls.total_ns && stalls.total_ns <= atomic_load(&inside) && stalls.count <= threads * buffers);
	CHECK((stalls.count == 0) == (stalls.total_ns == 0));
	CHECK(threads < MAX_THREADS || stalls.count > 0); // more at once than there are buffers
	CHECK(early ? atomic_load(&stopped) > 0 : atomic_load(&stopped) == 0);
	return 0;
}
