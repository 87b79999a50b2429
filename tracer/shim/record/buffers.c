#include "buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../ring/buffer.h"
#include "../../ring/ring.h"
#include "../evidence/life.h"
#include "../evidence/observed.h"
#include "../process/clock.h"
#include "../process/config.h"
#include "../process/memory.h"
#include "../process/state.h"
#include "../process/uninterrupted.h"
#include "../spool/budget.h"
#include "../spool/spool.h"
#include "answer.h"

enum {
	WAKE_BYTES = 2 << 20, // filled since the compressor was woken
	AHEAD_BYTES = 64 << 20, // of other buffers that a compressor has not removed, from which on times are given up
};

// A buffer that is used again.
struct slot {
	struct cairn_buffer *memory;
	bool open; // a thread has it
};

static struct cairn_rare lock;
static struct slot slots[CAIRN_RING];
static uint32_t count;        // of slots so far
static uint32_t copies;       // number of the next copy of a slot
static bool changing;         // a thread changes its buffer, or has left that
static uint32_t others;       // number of other buffers so far
static uint64_t progress;     // bytes of those files when the compressor had last removed some
static bool sums;             // times are given up
static uint64_t taken;        // number of uses of buffers so far
// The buffer that this thread is getting, and its sequence number.
static __thread struct {
	struct cairn_buffer *buffer; // NULL: none so far
	uint64_t sequence;
} next __attribute__((tls_model("initial-exec")));
static uint64_t unannounced;  // bytes filled since the compressor was woken
static struct cairn_ring without_file, *counters = &without_file;
static const void *doorbell;  // NULL: there is no compressor so far

static struct cairn_answer answer; // what the compressor says

void cairn_buffers_begin(void)
{
	char path[sizeof(cairn_config.spool) + 16];
	struct cairn_ring *observed = cairn_observed(CAIRN_OBSERVED_RING, sizeof(*counters));

	if (observed != NULL) {
		counters = observed;
		memcpy(counters->magic, CAIRN_RING_MAGIC, sizeof(counters->magic));
	}
	snprintf(path, sizeof(path), "%s/doorbell", cairn_config.spool);
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return;
	doorbell = cairn_map(CAIRN_DOORBELL_BYTES, PROT_READ, file); // only system calls look at it: it may be truncated
	close(file);
}

// read_answer reads what the compressor answers. The caller must hold the lock.
static void read_answer(void)
{
	const uint64_t before = answer.header.removed;

	if (!cairn_answer_read(&answer))
		return; // what it said before still holds
	cairn_spool_compressed(answer.header.bytes, answer.header.removed);
	answer.header.stopped[sizeof(answer.header.stopped) - 1] = 0;
	if (answer.header.removed > before)
		progress = counters->once;
}

static void wake(void)
{
	if (doorbell != NULL)
		cairn_ring_wake(doorbell);
}

// ahead is how many bytes of buffers that are not used again the compressor has not removed.
static uint64_t ahead(void)
{
	const uint64_t made = counters->once;

	return answer.header.removed < made ? made - answer.header.removed : 0;
}

// gives_up_times decides whether the next buffer has sums in the place of times: while a compressor
// that gets on is far behind, or the spool is nearly full. Rows of clustering and of aggregated
// times cannot say what has sums.
static bool gives_up_times(void)
{
	const bool there = counters->once - progress < AHEAD_BYTES;

	if (cairn_config.mode[0] != 0 || strncmp(cairn_config.timing, "aggregated", 10) == 0)
		return false;
	// it ends later than it begins, or it would begin again at once
	return (there && ahead() > (uint64_t)(sums ? AHEAD_BYTES / 2 : AHEAD_BYTES)) || cairn_spool_is_nearly_full(sums);
}

static uint64_t size_of(const struct cairn_buffer *s)
{
	return s->capacity + CAIRN_BUFFER_HEADER;
}

static struct slot *slot_of(const struct cairn_buffer *s)
{
	for (uint32_t i = 0; i < count; i++)
		if (slots[i].memory == s)
			return &slots[i];
	return NULL;
}

// close_buffer closes a buffer. The thread has it until it leaves it.
static void close_buffer(struct cairn_buffer *full)
{
	const uint64_t size = size_of(full);

	if (atomic_load_explicit(&full->closed, memory_order_relaxed) == 0) {
		atomic_store_explicit(&full->closed, 1, memory_order_release);
		atomic_store_explicit(&counters->filled, counters->filled + size, memory_order_release);
		unannounced += size;
	}
}

// fits reports whether a slot can be a buffer with room for minimum bytes of records.
static bool fits(const struct slot *slot, uint64_t minimum)
{
	return !slot->open && slot->memory->capacity >= minimum;
}

// released_slot returns a slot whose records are in a checkpoint.
static struct cairn_buffer *released_slot(uint64_t minimum)
{
	for (uint32_t i = 0; i < count; i++)
		if (fits(&slots[i], minimum) && answer.released[i] == slots[i].memory->taken) {
			slots[i].open = true;
			return slots[i].memory;
		}
	return NULL;
}

// count_once counts bytes of buffers that are not used again.
static void count_once(uint64_t size)
{
	atomic_store_explicit(&counters->once, counters->once + size, memory_order_release);
}

// new_slot returns a slot that was never used, if there is another one.
static struct cairn_buffer *new_slot(uint64_t minimum)
{
	struct cairn_buffer *s;

	if (count == CAIRN_RING || (s = cairn_spool_slot(count, minimum)) == NULL)
		return NULL;
	slots[count] = (struct slot){s, true};
	count++;
	return s;
}

// slot_to_copy returns a slot that no other thread has: best the full one, which is in the caches.
static struct slot *slot_to_copy(const struct cairn_buffer *full, uint64_t minimum)
{
	struct slot *slot = full != NULL ? slot_of(full) : NULL;

	if (slot != NULL && slot->memory->capacity >= minimum)
		return slot;
	for (uint32_t i = 0; i < count; i++)
		if (fits(&slots[i], minimum))
			return &slots[i];
	return NULL;
}

// begin_copies has the next copy in another file: readers go no further than to one that is missing.
static void begin_copies(void)
{
	copies = (copies + CAIRN_COPIES - 1) / CAIRN_COPIES * CAIRN_COPIES;
}

// copied_slot copies the records of a slot to a file, and returns the slot. That takes less time
// than to make another buffer, since nothing is mapped (0108).
static struct cairn_buffer *copied_slot(struct slot *slot)
{
	const uint64_t used = atomic_load_explicit(&slot->memory->used, memory_order_relaxed);
	const uint32_t number = copies++;

	if (!cairn_spool_copy(number, slot->memory, used)) {
		begin_copies(); // the right to open this one may be lost
		return NULL;
	}
	slot->open = true;
	next.buffer = slot->memory; // a thread that begins again does not copy it again
	count_once(CAIRN_BUFFER_HEADER + used);
	return slot->memory;
}

// other_buffer creates a buffer that is not used again. That of a thread that begins is small, since
// the thread may be one of many.
static struct cairn_buffer *other_buffer(bool begins, uint64_t minimum, const char **why)
{
	char name[32];

	snprintf(name, sizeof(name), "once-%u.seg", others++);
	struct cairn_buffer *s = cairn_spool_buffer(name, minimum, begins, taken == 0, why);
	if (s != NULL)
		count_once(size_of(s));
	return s;
}

// fresh_buffer returns a buffer that nobody uses.
static struct cairn_buffer *fresh_buffer(const struct cairn_buffer *full, uint64_t minimum, const char **why)
{
	struct slot *slot;
	struct cairn_buffer *s = released_slot(minimum);

	if (s == NULL)
		s = new_slot(minimum);
	if (s != NULL)
		return s;
	if (!cairn_spool_has_space()) {
		*why = "less than an eighth of the disk of the spool is free";
		return NULL;
	}
	if ((slot = slot_to_copy(full, minimum)) != NULL)
		s = copied_slot(slot);
	return s != NULL ? s : other_buffer(full == NULL, minimum, why);
}

// stop ends tracing. It writes the reason to a buffer, which needs no disk space: best to a slot,
// which is not removed.
static void stop(const char *why, struct cairn_buffer *full)
{
	if ((full == NULL || slot_of(full) == NULL) && count > 0)
		full = slots[0].memory;
	if (full != NULL)
		snprintf(full->stopped, sizeof(full->stopped), "%s", why);
	if (taken == 0 && !cairn_life_counts())
		cairn_budget_refused(); // no file shows that this process made calls
	cairn_stop(why);
}

// count_switch counts the time that a thread took to change its buffer.
static void count_switch(uint64_t began)
{
	const uint64_t ns = cairn_clock_ns(CLOCK_MONOTONIC) - began;

	atomic_store_explicit(&counters->switches, counters->switches + 1, memory_order_relaxed);
	atomic_store_explicit(&counters->switching_ns, counters->switching_ns + ns, memory_order_relaxed);
	if (counters->longest_ns < ns)
		atomic_store_explicit(&counters->longest_ns, ns, memory_order_relaxed);
}

bool cairn_buffers_lock(const void *frame)
{
	return cairn_rare_lock(&lock, frame);
}

void cairn_buffers_unlock(struct cairn_buffer *left)
{
	struct slot *slot = left != NULL && left != next.buffer ? slot_of(left) : NULL;

	if (slot != NULL)
		slot->open = false;
	next.buffer = NULL;
	changing = false;
	cairn_rare_unlock(&lock);
}

struct cairn_buffer *cairn_buffers_next(uint32_t thread, struct cairn_buffer *full, uint64_t minimum, uint64_t *capacity, bool *with_sums)
{
	const uint64_t began = cairn_clock_ns(CLOCK_MONOTONIC);
	const char *why = NULL;

	if (changing)
		begin_copies();
	changing = true;
	// 1. Close the full one, unless it is the next one: a slot whose records were copied.
	if (next.buffer == NULL) {
		next.sequence = full != NULL ? full->sequence + 1 : 0;
		if (full != NULL) {
			close_buffer(full);
			read_answer();
		}
	}
	// 2. Find a buffer.
	if (next.buffer == NULL && answer.header.stopped[0] != 0)
		why = answer.header.stopped;
	else if (next.buffer == NULL && atomic_load(&cairn_state) != CAIRN_OFF) // or else a buffer says why, and keeps it
		next.buffer = fresh_buffer(full, minimum, &why);
	// 3. Begin it.
	struct cairn_buffer *s = next.buffer;
	if (s != NULL) {
		cairn_buffer_begin(s, thread, next.sequence, ++taken);
		*capacity = s->capacity;
		*with_sums = sums = gives_up_times();
	} else if (atomic_load(&cairn_state) != CAIRN_OFF) {
		stop(why, full);
	}
	if (unannounced >= WAKE_BYTES || s == NULL) {
		unannounced = 0;
		wake();
	}
	count_switch(began);
	return s;
}

void cairn_buffers_unmap(struct cairn_buffer *left)
{
	if (slot_of(left) == NULL)
		cairn_unmap(left, size_of(left)); // it has no open record: a thread takes a new buffer only outside of calls
}

void cairn_ballot_request(uint64_t number)
{
	const int saved = errno;

	atomic_store_explicit(&counters->cuts, number + 1, memory_order_release);
	wake();
	errno = saved;
}

bool cairn_ballot_read(uint64_t number, struct cairn_ballot_answer *ballot)
{
	struct cairn_answer now;

	if (!cairn_answer_read(&now) || now.header.cut != number + 1)
		return false;
	*ballot = (struct cairn_ballot_answer){now.header.signature, now.header.unchanged, now.header.period, now.header.calls};
	return true;
}
