#include "names.h"

#include <sched.h>
#include <stdatomic.h>

bool (*cairn_names_describe)(const uint64_t words[5]);

// A number, linked to the next one of its kind.
struct name {
	int32_t next;
	int32_t alike; // index of its kind
	uint32_t ordinal;
	bool taken;
};

// A kind: all blocks that are alike.
struct alike {
	uintptr_t size, site;
	uint32_t kind, device, count;
	int32_t first, last, lowest; // lowest: all numbers before it are taken
};

enum { MAX_NUMBERS = 1 << 20, MAX_ALIKE = 1 << 16, LIVE = 1 << 21 };

// Unused pages of these are never allocated.
static struct name names[MAX_NUMBERS];
static struct alike alikes[MAX_ALIKE];
static struct {
	uintptr_t start; // 0: unused
	int32_t number;
} live[LIVE];
static int32_t count;
static uint32_t alike_count, live_count, unknown_count;

static _Atomic uintptr_t owner;

// lock fails if the thread already has the lock, in a signal handler that interrupted it.
static bool lock(void)
{
	static __thread char me __attribute__((tls_model("initial-exec")));
	uintptr_t none = 0;

	if (atomic_load_explicit(&owner, memory_order_relaxed) == (uintptr_t)&me)
		return false;
	while (!atomic_compare_exchange_weak_explicit(&owner, &none, (uintptr_t)&me, memory_order_acquire, memory_order_relaxed)) {
		none = 0;
		sched_yield();
	}
	return true;
}

static void unlock(void)
{
	atomic_store_explicit(&owner, 0, memory_order_release);
}

void cairn_names_after_fork(void)
{
	unlock();
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static struct alike *alike_of(const struct cairn_block *b)
{
	uint64_t h = mix(mix(mix(b->kind, b->device), b->size), b->site);
	for (size_t i = h % MAX_ALIKE;; i = (i + 1) % MAX_ALIKE) {
		struct alike *a = &alikes[i];
		if (a->kind == b->kind && a->device == b->device && a->size == b->size && a->site == b->site)
			return a;
		if (a->kind != 0)
			continue;
		if (alike_count >= MAX_ALIKE / 4 * 3)
			return NULL;
		alike_count++;
		*a = (struct alike){b->size, b->site, b->kind, b->device, 0, -1, -1, -1};
		return a;
	}
}

// take returns the lowest free number of a kind.
static int32_t take(struct alike *a)
{
	int32_t n = a->lowest >= 0 ? a->lowest : a->first;
	while (n >= 0 && names[n].taken)
		n = names[n].next;
	if (n < 0) {
		uint64_t words[5] = {a->kind, a->device, a->kind == CAIRN_UNKNOWN ? 0 : a->size, a->kind == CAIRN_UNKNOWN ? 0 : a->site, a->kind == CAIRN_UNKNOWN ? unknown_count++ : a->count};
		if (count == MAX_NUMBERS || !cairn_names_describe(words))
			return CAIRN_NO_NAME;
		n = count++;
		names[n] = (struct name){-1, (int32_t)(a - alikes), a->count++, false};
		if (a->last >= 0)
			names[a->last].next = n;
		else
			a->first = n;
		a->last = n;
	}
	names[n].taken = true;
	a->lowest = n; // all before it are taken, and now n is, too
	return n;
}

static size_t place_of(uintptr_t start)
{
	size_t i = mix(0, start) % LIVE;
	while (live[i].start != 0 && live[i].start != start)
		i = (i + 1) % LIVE;
	return i;
}

int32_t cairn_name_block(const struct cairn_block *b)
{
	int32_t n = CAIRN_NO_NAME;
	if (!lock())
		return n;
	size_t i = place_of(b->start);
	if (live[i].start != 0) {
		n = live[i].number;
	} else if (live_count < LIVE / 2) {
		struct alike *a = alike_of(b);
		if (a != NULL && (n = take(a)) >= 0) {
			live[i].start = b->start;
			live[i].number = n;
			live_count++;
		}
	}
	unlock();
	return n;
}

void cairn_name_release(uintptr_t start)
{
	if (!lock())
		return;
	size_t i = place_of(start);
	if (live[i].start != 0) {
		int32_t n = live[i].number;
		struct alike *a = &alikes[names[n].alike];
		names[n].taken = false;
		if (a->lowest < 0 || names[n].ordinal < names[a->lowest].ordinal)
			a->lowest = n;
		live_count--;
		// Move up an entry that was displaced by it.
		live[i].start = 0;
		for (size_t k = (i + 1) % LIVE; live[k].start != 0; k = (k + 1) % LIVE) {
			size_t home = mix(0, live[k].start) % LIVE;
			if ((k - home) % LIVE >= (k - i) % LIVE) {
				live[i] = live[k];
				live[k].start = 0;
				i = k;
			}
		}
	}
	unlock();
}

int32_t cairn_name_permanently(const struct cairn_block *b)
{
	int32_t n = CAIRN_NO_NAME;
	if (!lock())
		return n;
	struct alike *a = alike_of(b);
	if (a != NULL)
		n = a->first >= 0 ? a->first : take(a);
	unlock();
	return n;
}
