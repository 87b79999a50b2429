// A shadow of the address space, in levels. A level is for blocks in a range of sizes and has a
// slot for each granule of memory. Granules are so small that no two blocks of the level begin in
// the same one, and so large that a block has only few of them. The block around an address is
// found by going back from the address to the first used slot. So adding and removing a block is a
// store to a slot given by its address. Leaves of slots are mapped on first use.
//	level 0: a word for every 16 bytes, for blocks below 8 KiB: site, size
//	level 1: a slot for every 4 KiB, below 4 MiB
//	level 2: a slot for every 2 MiB, below 2 GiB
//	level 3: a slot for every GiB
#include "index.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ADDRESS_BITS = 47 };

// Level 0: present | named | eight | size (13 bits) | site (47 bits).
#define SITE_MASK (((uint64_t)1 << 47) - 1)
#define PRESENT ((uint64_t)1 << 63)
#define NAMED ((uint64_t)1 << 62)
#define EIGHT ((uint64_t)1 << 61) // the block begins in the second half of its granule
enum { SMALL = 8192, SMALL_SHIFT = 4, WORDS_SHIFT = 22, WORDS = 1 << WORDS_SHIFT };

static _Atomic(_Atomic uint64_t *) words[1 << (ADDRESS_BITS - SMALL_SHIFT - WORDS_SHIFT)];

// A slot of the other levels. version is odd while the slot is being changed.
struct slot {
	_Atomic uint32_t version;
	_Atomic uint32_t kind; // 0: free
	_Atomic uintptr_t start, size, site;
	_Atomic bool named;
};

enum { SLOTS_SHIFT = 14, SLOTS = 1 << SLOTS_SHIFT, LEVELS = 3 };

struct leaf {
	_Atomic uint64_t taken[SLOTS / 64];
	struct slot slots[SLOTS];
};

static const struct level {
	unsigned shift;
	uintptr_t limit; // upper bound of the sizes
	unsigned first;  // index of its first leaf
} levels[LEVELS] = {
	{12, (uintptr_t)4 << 20, 0},
	{21, (uintptr_t)2 << 30, 1 << (ADDRESS_BITS - 12 - SLOTS_SHIFT)},
	{30, UINTPTR_MAX, (1 << (ADDRESS_BITS - 12 - SLOTS_SHIFT)) + (1 << (ADDRESS_BITS - 21 - SLOTS_SHIFT))},
};
static _Atomic(struct leaf *) leaves[(1 << (ADDRESS_BITS - 12 - SLOTS_SHIFT)) + (1 << (ADDRESS_BITS - 21 - SLOTS_SHIFT)) + 8];
static _Atomic uint64_t live[LEVELS];

// map_once maps the memory behind a pointer; threads may call it concurrently.
static void *map_once(_Atomic(void *) *at, size_t size)
{
	void *have = atomic_load_explicit(at, memory_order_acquire), *mapped;
	if (have != NULL)
		return have;
	// Not the application's mmap, which may be hooked.
	mapped = (void *)syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	if (atomic_compare_exchange_strong(at, &have, mapped))
		return mapped;
	syscall(SYS_munmap, mapped, size);
	return have;
}

static _Atomic uint64_t *word_of(uintptr_t address, bool make)
{
	uintptr_t granule = address >> SMALL_SHIFT;
	_Atomic(_Atomic uint64_t *) *at = &words[granule >> WORDS_SHIFT];
	_Atomic uint64_t *leaf = make ? map_once((_Atomic(void *) *)at, WORDS * sizeof(uint64_t)) : atomic_load_explicit(at, memory_order_acquire);
	return leaf != NULL ? &leaf[granule & (WORDS - 1)] : NULL;
}

static struct leaf *leaf_of(unsigned level, uintptr_t granule, bool make)
{
	_Atomic(struct leaf *) *at = &leaves[levels[level].first + (granule >> SLOTS_SHIFT)];
	return make ? map_once((_Atomic(void *) *)at, sizeof(struct leaf)) : atomic_load_explicit(at, memory_order_acquire);
}

static bool is_small(const struct cairn_block *b)
{
	return b->kind == CAIRN_HEAP && b->size < SMALL;
}

static unsigned level_of(uintptr_t size)
{
	unsigned level = 0;
	while (size >= levels[level].limit)
		level++;
	return level;
}

static void change(struct slot *s, const struct cairn_block *b)
{
	atomic_fetch_add_explicit(&s->version, 1, memory_order_acquire);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->start, b->start, memory_order_relaxed);
	atomic_store_explicit(&s->size, b->size, memory_order_relaxed);
	atomic_store_explicit(&s->site, b->site, memory_order_relaxed);
	atomic_store_explicit(&s->named, b->named, memory_order_relaxed);
	atomic_store_explicit(&s->kind, b->kind, memory_order_relaxed);
	atomic_fetch_add_explicit(&s->version, 1, memory_order_release);
}

static bool read_slot(struct slot *s, struct cairn_block *b)
{
	uint32_t before, after;
	do {
		before = atomic_load_explicit(&s->version, memory_order_acquire);
		b->kind = atomic_load_explicit(&s->kind, memory_order_relaxed);
		b->start = atomic_load_explicit(&s->start, memory_order_relaxed);
		b->size = atomic_load_explicit(&s->size, memory_order_relaxed);
		b->site = atomic_load_explicit(&s->site, memory_order_relaxed);
		b->named = atomic_load_explicit(&s->named, memory_order_relaxed);
		b->device = 0;
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&s->version, memory_order_relaxed);
	} while (before != after);
	return (before & 1) == 0 && b->kind != 0;
}

void cairn_index_add(const struct cairn_block *b)
{
	if (b->start >> ADDRESS_BITS != 0 || b->start == 0)
		return;
	if (is_small(b)) {
		_Atomic uint64_t *w = word_of(b->start, true);
		if (w != NULL)
			atomic_store_explicit(w, PRESENT | (b->start & 8 ? EIGHT : 0) | (uint64_t)b->size << 47 | (b->site & SITE_MASK), memory_order_release);
		return;
	}
	unsigned level = level_of(b->size);
	uintptr_t granule = b->start >> levels[level].shift, i = granule & (SLOTS - 1);
	struct leaf *leaf = leaf_of(level, granule, true);
	if (leaf == NULL)
		return;
	change(&leaf->slots[i], b);
	if ((atomic_fetch_or(&leaf->taken[i / 64], (uint64_t)1 << i % 64) >> i % 64 & 1) == 0)
		atomic_fetch_add(&live[level], 1);
}

static void from_word(uintptr_t granule, uint64_t w, struct cairn_block *b)
{
	*b = (struct cairn_block){
		.start = granule << SMALL_SHIFT | (w & EIGHT ? 8 : 0), .size = w >> 47 & (SMALL - 1), .site = w & SITE_MASK,
		.kind = CAIRN_HEAP, .named = (w & NAMED) != 0,
	};
}

bool cairn_index_remove(uintptr_t start, struct cairn_block *removed)
{
	if (start >> ADDRESS_BITS != 0 || start == 0)
		return false;
	_Atomic uint64_t *w = word_of(start, false);
	if (w != NULL) {
		uint64_t old = atomic_load_explicit(w, memory_order_relaxed);
		if ((old & PRESENT) && ((old & EIGHT) != 0) == ((start & 8) != 0)) {
			atomic_store_explicit(w, 0, memory_order_relaxed);
			from_word(start >> SMALL_SHIFT, old, removed);
			return true;
		}
	}
	for (unsigned level = 0; level < LEVELS; level++) {
		uintptr_t granule = start >> levels[level].shift, i = granule & (SLOTS - 1);
		struct leaf *leaf = atomic_load_explicit(&live[level], memory_order_relaxed) > 0 ? leaf_of(level, granule, false) : NULL;
		if (leaf == NULL || (atomic_load(&leaf->taken[i / 64]) >> i % 64 & 1) == 0)
			continue;
		if (!read_slot(&leaf->slots[i], removed) || removed->start != start)
			continue;
		atomic_fetch_and(&leaf->taken[i / 64], ~((uint64_t)1 << i % 64));
		atomic_fetch_sub(&live[level], 1);
		change(&leaf->slots[i], &(struct cairn_block){0});
		return true;
	}
	return false;
}

// holds reports whether an address is in a block. One past the end is not, since another block
// may begin there.
static bool holds(const struct cairn_block *b, uintptr_t address)
{
	return address - b->start < b->size || address == b->start;
}

static bool find_in_level(unsigned level, uintptr_t address, struct cairn_block *b)
{
	uintptr_t granule = address >> levels[level].shift;
	uintptr_t span = level == LEVELS - 1 ? granule : levels[level].limit >> levels[level].shift;

	for (uintptr_t back = 0; back <= span && back <= granule;) {
		uintptr_t g = granule - back, i = g & (SLOTS - 1);
		struct leaf *leaf = leaf_of(level, g, false);
		if (leaf == NULL) {
			back += i + 1;
			continue;
		}
		uint64_t taken = atomic_load_explicit(&leaf->taken[i / 64], memory_order_acquire) & (~(uint64_t)0 >> (63 - i % 64));
		if (taken == 0) {
			back += i % 64 + 1;
			continue;
		}
		uintptr_t at = 63 - (unsigned)__builtin_clzll(taken);
		back += i % 64 - at;
		if (read_slot(&leaf->slots[(i & ~(uintptr_t)63) + at], b) && b->start <= address)
			return holds(b, address);
		back++;
	}
	return false;
}

bool cairn_index_find(uintptr_t address, struct cairn_block *b)
{
	if (address >> ADDRESS_BITS != 0 || address == 0)
		return false;
	for (unsigned level = 0; level < LEVELS; level++)
		if (atomic_load_explicit(&live[level], memory_order_relaxed) > 0 && find_in_level(level, address, b))
			return true;
	uintptr_t granule = address >> SMALL_SHIFT;
	for (uintptr_t back = 0; back <= SMALL >> SMALL_SHIFT && back <= granule; back++) {
		_Atomic uint64_t *w = word_of((granule - back) << SMALL_SHIFT, false);
		uint64_t word = w != NULL ? atomic_load_explicit(w, memory_order_acquire) : 0;
		if ((word & PRESENT) == 0)
			continue;
		from_word(granule - back, word, b);
		if (b->start <= address)
			return holds(b, address);
	}
	return false;
}

void cairn_index_name(const struct cairn_block *b)
{
	if (is_small(b)) {
		_Atomic uint64_t *w = word_of(b->start, false);
		if (w != NULL)
			atomic_fetch_or(w, NAMED);
		return;
	}
	unsigned level = level_of(b->size);
	uintptr_t granule = b->start >> levels[level].shift;
	struct leaf *leaf = leaf_of(level, granule, false);
	if (leaf != NULL)
		atomic_store(&leaf->slots[granule & (SLOTS - 1)].named, true);
}
