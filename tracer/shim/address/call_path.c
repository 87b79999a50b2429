#include "call_path.h"

#include <stdatomic.h>
#include <string.h>

#include "../process/thread.h"
#include "../process/uninterrupted.h"
#include "../spool/dictionary.h"
#include "arena.h"
#include "callers.h"
#include "modules.h"
#include "unwind.h"

bool cairn_call_paths;
static bool whole; // paths; otherwise call sites with the callers that callers.h selects

// A known path. Paths are kept until the process ends.
struct path {
	uint64_t hash;
	uint32_t number, length;
	uintptr_t addresses[];
};

enum { SLOTS = 1 << 17, SLOTS_OF_CALL_SITES = 1 << 13 }; // twice as many as are kept

// A cache of the thread's latest words, by call site and frame: most calls are made where an
// earlier one was made.
struct latest {
	struct cairn_walk walk;
	uint64_t caller, word;
	uint32_t next; // of the first of a set: which one is replaced next
};

enum { SET_BITS = 2, WAYS = 4, MAX_THREADS = 4096 }; // further threads have no cache

static _Atomic uint32_t threads;

static _Atomic(struct path *) *paths;
static struct cairn_rare changing = {.blocks = true};
static _Atomic bool full; // no further path is kept
static uint32_t count, slots; // a power of two; only as many as needed, since each path may touch a page of its own
static struct cairn_arena room;

void cairn_call_paths_begin(bool whole_paths)
{
	whole = whole_paths;
	slots = whole ? SLOTS : SLOTS_OF_CALL_SITES;
	paths = cairn_arena_map(slots * sizeof(*paths));
	cairn_call_paths = paths != NULL && cairn_unwind_begin_paths(whole);
}

static uint64_t hash_of(const uintptr_t *addresses, int n)
{
	uint64_t h = (uint64_t)n;
	for (int i = 0; i < n; i++) {
		h = (h ^ addresses[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return h;
}

// find returns the path, or NULL and the slot where it must be inserted.
static struct path *find(uint64_t hash, const uintptr_t *addresses, int n, size_t *slot)
{
	for (size_t i = hash & (slots - 1);; i = (i + 1) & (slots - 1)) {
		struct path *p = atomic_load_explicit(&paths[i], memory_order_acquire);
		if (p == NULL) {
			*slot = i;
			return NULL;
		}
		if (p->hash == hash && p->length == (uint32_t)n && memcmp(p->addresses, addresses, sizeof(*addresses) * (size_t)n) == 0)
			return p;
	}
}

static struct path *add(uint64_t hash, const uintptr_t *addresses, int n)
{
	const size_t size = sizeof(struct path) + sizeof(*addresses) * (size_t)n;
	size_t slot;
	uint64_t words[CAIRN_MAX_FRAMES];
	struct path *p;

	for (int i = 0; i < n; i++) {
		words[i] = addresses[i];
		cairn_modules_use(addresses[i]);
	}
	if (!cairn_rare_lock(&changing, NULL))
		return NULL;
	p = find(hash, addresses, n, &slot);
	struct path *fresh = p == NULL && count < slots / 2 ? cairn_arena_take(&room, size, SIZE_MAX) : NULL;
	if (fresh != NULL && cairn_dictionary_add(CAIRN_ENTRY_PATH, words, (uint32_t)n)) {
		p = fresh;
		p->hash = hash;
		p->number = count++;
		p->length = (uint32_t)n;
		memcpy(p->addresses, addresses, sizeof(*addresses) * (size_t)n);
		atomic_store_explicit(&paths[slot], p, memory_order_release);
	} else if (p == NULL) {
		full = true; // no room: record only return addresses for paths that are not known
	}
	cairn_rare_unlock(&changing);
	return p;
}

// latest_calls returns the thread's cache entries for this call site, WAYS of them: its function
// may be called from several places in turn. NULL: it has none.
static struct latest *latest_calls(uint64_t caller, const void *frame)
{
	static struct latest none[1];
	static __thread struct latest *kept __attribute__((tls_model("initial-exec")));
	struct cairn_location *location = cairn_self.location;
	if (kept == NULL && location != NULL && location->calls != NULL) { // of a thread that has ended: its stack is gone
		kept = location->calls;
		for (int i = 0; i < WAYS << SET_BITS; i++)
			kept[i].caller = 0;
	}
	if (kept == NULL) {
		void *memory = NULL;
		if (atomic_fetch_add(&threads, 1) < MAX_THREADS)
			memory = cairn_arena_map(sizeof(*kept) * WAYS << SET_BITS);
		kept = memory != NULL ? memory : none;
		if (location != NULL)
			location->calls = memory;
	}
	return kept != none ? &kept[((caller ^ (uintptr_t)frame) * 0x9e3779b97f4a7c15u >> (64 - SET_BITS)) * WAYS] : NULL;
}

static uint64_t remember(struct latest *latest, uint64_t caller, uint64_t word)
{
	if (latest != NULL) {
		latest->caller = caller;
		latest->word = word;
	}
	return word;
}

// frames_of returns the frames that the call is recorded with, which begin with the call of MPI;
// NULL: there are none.
static const uintptr_t *frames_of(uint64_t caller, struct cairn_start start, struct cairn_walk *walk, struct cairn_callers *callers,
				  uintptr_t frames[CAIRN_MAX_FRAMES], int *n)
{
	if (!whole) {
		callers->site = caller;
		callers->n = 0;
		cairn_unwind(frames, start, walk, cairn_select_caller, callers);
		*n = callers->n;
		return *n > 1 ? callers->kept : NULL;
	}
	*n = cairn_unwind(frames, start, walk, NULL, NULL);
	// Frames of MPI's Fortran layer may be between the program's call and us.
	while (*n > 0 && *frames != caller)
		frames++, --*n;
	return *n > 0 ? frames : NULL;
}

__attribute__((noinline)) uint64_t cairn_call_path(uint64_t caller)
{
	if (caller >> 63 != 0)
		return caller; // a line of Python: its path would be the interpreter's
	const struct cairn_start start = CAIRN_START;
	struct latest *set = latest_calls(caller, (const void *)start.sp), *latest = NULL;
	for (int i = 0; set != NULL && i < WAYS; i++)
		if (set[i].caller == caller && cairn_same_walk(&set[i].walk, &start))
			return set[i].word;
	if (!whole && !cairn_may_be_in_wrapper(caller)) {
		cairn_self.alone[CAIRN_SITE_SLOT(caller)] = caller;
		return caller;
	}
	if (set != NULL)
		latest = &set[set->next++ % WAYS];
	uintptr_t room_of_frames[CAIRN_MAX_FRAMES];
	struct cairn_callers callers;
	int n;
	const uintptr_t *frames = frames_of(caller, start, latest != NULL ? &latest->walk : NULL, &callers, room_of_frames, &n);
	if (frames == NULL)
		return remember(latest, caller, caller);
	size_t slot;
	uint64_t hash = hash_of(frames, n);
	struct path *p = find(hash, frames, n, &slot);
	if (p == NULL && !atomic_load_explicit(&full, memory_order_relaxed))
		p = add(hash, frames, n);
	return remember(latest, caller, p != NULL ? CAIRN_ENTRY_WORD(p->number) : caller);
}
