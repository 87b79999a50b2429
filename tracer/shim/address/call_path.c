#include "call_path.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../spool/dictionary.h"
#include "modules.h"
#include "unwind.h"

bool cairn_call_paths;

// A known path. Paths are kept until the process ends.
struct path {
	uint64_t hash;
	uint32_t number, length;
	uintptr_t addresses[];
};

enum { SLOTS = 1 << 17, MAX_PATHS = SLOTS / 2 };
static const size_t ROOM = (size_t)256 << 20;

// A cache of the thread's latest words, by call site and frame: most calls are made where an earlier one was made.
struct latest {
	struct cairn_walk walk;
	uint64_t caller, word;
};

enum { LATEST_BITS = 4, MAX_THREADS = 4096 }; // further threads have no cache

static _Atomic uint32_t threads;

static _Atomic(struct path *) paths[SLOTS];
static struct cairn_rare changing;
static uint32_t count;
static char *room;
static size_t room_used;

void cairn_call_paths_begin(void)
{
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED)
		return;
	cairn_unwind_begin();
	cairn_call_paths = true;
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
	for (size_t i = hash % SLOTS;; i = (i + 1) % SLOTS) {
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
	size_t slot, size = sizeof(struct path) + sizeof(*addresses) * (size_t)n;
	uint64_t words[CAIRN_MAX_FRAMES];
	struct path *p;

	for (int i = 0; i < n; i++) {
		words[i] = addresses[i];
		cairn_modules_use(addresses[i]);
	}
	if (!cairn_rare_lock(&changing))
		return NULL;
	p = find(hash, addresses, n, &slot);
	if (p == NULL && count < MAX_PATHS && room_used + size <= ROOM && cairn_dictionary_add(CAIRN_ENTRY_PATH, words, (uint32_t)n)) {
		p = (struct path *)(void *)(room + room_used);
		room_used += size;
		p->hash = hash;
		p->number = count++;
		p->length = (uint32_t)n;
		memcpy(p->addresses, addresses, sizeof(*addresses) * (size_t)n);
		atomic_store_explicit(&paths[slot], p, memory_order_release);
	} else if (p == NULL) {
		cairn_call_paths = false; // no room: record only return addresses from now on
	}
	cairn_rare_unlock(&changing);
	return p;
}

// latest_call returns the thread's cache entry for this call site; NULL: it has none.
static struct latest *latest_call(uint64_t caller, const void *frame)
{
	static __thread struct latest *kept __attribute__((tls_model("initial-exec")));
	if (kept == NULL) {
		const int saved = errno;
		void *memory = MAP_FAILED;
		if (atomic_fetch_add(&threads, 1) < MAX_THREADS)
			memory = mmap(NULL, sizeof(*kept) << LATEST_BITS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		errno = saved;
		kept = memory;
	}
	return kept != MAP_FAILED ? &kept[(caller ^ (uintptr_t)frame) * 0x9e3779b97f4a7c15u >> (64 - LATEST_BITS)] : NULL;
}

static uint64_t remember(struct latest *latest, uint64_t caller, uint64_t word)
{
	if (latest != NULL) {
		latest->caller = caller;
		latest->word = word;
	}
	return word;
}

uint64_t cairn_call_path(uint64_t caller)
{
	uintptr_t frames[CAIRN_MAX_FRAMES], *addresses = frames;
	if (caller >> 63 != 0)
		return caller; // a line of Python: its path would be the interpreter's
	struct latest *latest = latest_call(caller, __builtin_frame_address(0));
	int n = cairn_unwind(frames, latest != NULL ? &latest->walk : NULL);
	struct path *p;
	uint64_t hash;
	size_t slot;

	if (n == CAIRN_SAME_WALK && latest->caller == caller)
		return latest->word;
	if (n == CAIRN_SAME_WALK)
		n = cairn_unwind(frames, NULL);
	// The path begins at the program's call of MPI: frames of MPI's Fortran layer may be between that and us.
	while (n > 0 && *addresses != caller)
		addresses++, n--;
	if (n == 0)
		return remember(latest, caller, caller);
	hash = hash_of(addresses, n);
	p = find(hash, addresses, n, &slot);
	if (p == NULL)
		p = add(hash, addresses, n);
	return remember(latest, caller, p != NULL ? CAIRN_ENTRY_WORD(p->number) : caller);
}
