#include "buffers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../ring/buffer.h"
#include "../../ring/ring.h"
#include "../evidence/life.h"
#include "../evidence/observed.h"
#include "../process/clock.h"
#include "../process/config.h"
#include "../process/state.h"
#include "../spool/budget.h"
#include "../spool/spool.h"

enum {
	LARGE = 2, // size factor of a thread's buffers after its first one, since a change costs as much as filling one
	RING_BYTES = 8 << 20, // of the buffers that are used again: two checkpoints are written per round
	WAKE_BYTES = 2 << 20, // filled since the compressor was woken
	AHEAD_BYTES = 64 << 20, // of other buffers that a compressor has not removed, from which on times are given up
};

// A buffer that is used again.
struct member {
	struct cairn_buffer *memory;
	uint64_t size; // bytes of its file, N.seg
	bool open;     // a thread writes to it
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct member members[CAIRN_RING];
static uint32_t count;        // of members
static uint64_t member_bytes; // of all members
static uint32_t others;       // number of files so far that are no members
static uint64_t progress;     // bytes of those files when the compressor had last removed some
static bool sums;             // times are given up
static uint64_t taken;        // number of uses of buffers so far
static uint64_t unannounced;  // bytes filled since the compressor was woken
static struct cairn_ring ring_without_file, *ring = &ring_without_file;
static const void *doorbell;  // NULL: there is no compressor so far

// What the compressor says.
static struct {
	struct cairn_compressor header;
	uint64_t released[CAIRN_RING]; // by member: number of its last use that is in a checkpoint
} answer;

void cairn_buffers_begin(void)
{
	char path[sizeof(cairn_config.spool) + 16];
	struct cairn_ring *observed = cairn_observed(CAIRN_OBSERVED_RING, sizeof(*ring));

	if (observed != NULL) {
		ring = observed;
		memcpy(ring->magic, CAIRN_RING_MAGIC, sizeof(ring->magic));
	}
	snprintf(path, sizeof(path), "%s/doorbell", cairn_config.spool);
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return;
	void *memory = mmap(NULL, CAIRN_DOORBELL_BYTES, PROT_READ, MAP_SHARED, file, 0);
	if (memory != MAP_FAILED)
		doorbell = memory; // only system calls look at it: it may be truncated
	close(file);
}

// open_answer opens the file in which the compressor says something. It is never mapped, since a file
// that becomes shorter is a SIGBUS.
static int open_answer(char *path, size_t size)
{
	snprintf(path, size, "%s/compressor", cairn_spool_directory);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static bool is_answer(const struct cairn_compressor *header, ssize_t bytes)
{
	return bytes >= (ssize_t)sizeof(*header) && memcmp(header->magic, CAIRN_COMPRESSOR_MAGIC, sizeof(header->magic)) == 0;
}

// read_answer reads what the compressor answers. The caller must hold the lock.
static void read_answer(void)
{
	static char path[sizeof(cairn_config.spool) + 600]; // threads may have small stacks
	const int file = open_answer(path, sizeof(path));
	const uint64_t before = answer.header.removed;

	if (file < 0)
		return;
	if (is_answer(&answer.header, read(file, &answer, sizeof(answer))))
		cairn_spool_compressed(answer.header.bytes, answer.header.removed);
	else
		memset(&answer, 0, sizeof(answer)); // somebody else has written it
	answer.header.stopped[sizeof(answer.header.stopped) - 1] = 0;
	if (answer.header.removed > before)
		progress = ring->once;
	close(file);
}

static void wake(void)
{
	if (doorbell != NULL)
		cairn_ring_wake(doorbell);
}

// ahead is how many bytes of buffers that are not used again the compressor has not removed.
static uint64_t ahead(void)
{
	const uint64_t made = ring->once;

	return answer.header.removed < made ? made - answer.header.removed : 0;
}

// gives_up_times decides whether the next buffer has sums in the place of times: while a compressor
// that gets on is far behind, or the spool is nearly full. Rows of clustering and of aggregated
// times cannot say what has sums.
static bool gives_up_times(void)
{
	const bool there = ring->once - progress < AHEAD_BYTES;

	if (cairn_config.mode[0] != 0 || strncmp(cairn_config.timing, "aggregated", 10) == 0)
		return false;
	// it ends later than it begins, or it would begin again at once
	return (there && ahead() > (uint64_t)(sums ? AHEAD_BYTES / 2 : AHEAD_BYTES)) || cairn_spool_is_nearly_full(sums);
}

static uint64_t size_of(const struct cairn_buffer *s)
{
	return s->capacity + CAIRN_BUFFER_HEADER;
}

static struct member *member_of(const struct cairn_buffer *s)
{
	for (uint32_t i = 0; i < count; i++)
		if (members[i].memory == s)
			return &members[i];
	return NULL;
}

// close_buffer ends a thread's use of a buffer. Its file stays until the compressor has it.
static void close_buffer(struct cairn_buffer *full)
{
	struct member *m = member_of(full);
	const uint64_t size = size_of(full);

	atomic_store_explicit(&full->closed, 1, memory_order_release);
	atomic_store_explicit(&ring->filled, ring->filled + size, memory_order_release);
	unannounced += size;
	if (m != NULL)
		m->open = false;
	else
		munmap(full, size); // it has no open record: a thread takes a new buffer only outside of calls
}

// fits reports whether a member can be a buffer with room for minimum bytes of records. One that
// was made for an enormous record is for such records only.
static bool fits(const struct member *m, uint64_t minimum)
{
	return !m->open && m->size >= minimum + CAIRN_BUFFER_HEADER && m->size <= 4 * (minimum + LARGE * cairn_spool_buffer_bytes());
}

// released_member returns a member whose records are in a checkpoint.
static struct cairn_buffer *released_member(uint64_t minimum)
{
	for (uint32_t i = 0; i < count; i++)
		if (fits(&members[i], minimum) && answer.released[i] == members[i].memory->taken)
			return members[i].memory;
	return NULL;
}

// count_other counts a file that is no member.
static void count_other(uint64_t size)
{
	others++;
	atomic_store_explicit(&ring->once, ring->once + size, memory_order_release);
}

// new_member creates a buffer that is used again, if there may be another one.
static struct cairn_buffer *new_member(uint64_t minimum, uint64_t size)
{
	const char *why; // fresh_buffer has other ways
	const uint64_t needed = minimum + CAIRN_BUFFER_HEADER;
	char name[32];

	if (count == CAIRN_RING || member_bytes + (size > needed ? size : needed) > RING_BYTES)
		return NULL;
	snprintf(name, sizeof(name), "%u.seg", count);
	struct cairn_buffer *s = cairn_spool_buffer(name, minimum, size, taken == 0, true, &why);
	if (s == NULL)
		return NULL;
	members[count++] = (struct member){s, size_of(s), false};
	member_bytes += size_of(s);
	return s;
}

// member_to_copy returns a member that no thread uses: best the one that was filled last, which is
// in the caches.
static const struct member *member_to_copy(const struct cairn_buffer *full, uint64_t minimum)
{
	const struct member *m = full != NULL ? member_of(full) : NULL;

	for (uint32_t i = 0; i < count && (m == NULL || !fits(m, minimum)); i++)
		m = &members[i];
	return m != NULL && fits(m, minimum) ? m : NULL;
}

// copied_member writes the records of a member to a file of their own, and returns the member. That
// takes less time than to make another buffer, since nothing is mapped (0108).
static struct cairn_buffer *copied_member(const struct member *m)
{
	const uint64_t size = CAIRN_BUFFER_HEADER + atomic_load_explicit(&m->memory->used, memory_order_relaxed);
	char name[32];

	snprintf(name, sizeof(name), "once-%u.seg", others);
	if (!cairn_spool_copy(name, m->memory, size))
		return NULL;
	count_other(size);
	return m->memory;
}

// other_buffer creates a buffer that is not used again.
static struct cairn_buffer *other_buffer(uint64_t minimum, uint64_t size, const char **why)
{
	char name[32];

	snprintf(name, sizeof(name), "once-%u.seg", others);
	return cairn_spool_buffer(name, minimum, size, taken == 0, false, why);
}

// fresh_buffer returns a buffer that nobody uses.
static struct cairn_buffer *fresh_buffer(const struct cairn_buffer *full, uint64_t minimum, const char **why)
{
	const uint64_t usual = cairn_spool_buffer_bytes(), size = full != NULL && cairn_config.buffer_bytes <= 0 ? LARGE * usual : usual;
	const struct member *m;
	struct cairn_buffer *s = released_member(minimum);

	if (s == NULL)
		s = new_member(minimum, size);
	if (s != NULL)
		return s;
	if (!cairn_spool_has_space()) {
		*why = "hardly any space is left on the disk of the spool";
		return NULL;
	}
	if ((m = member_to_copy(full, minimum)) != NULL)
		s = copied_member(m);
	return s != NULL ? s : other_buffer(minimum, size, why);
}

// stop ends tracing. It writes the reason to a buffer, which needs no disk space.
static void stop(const char *why, struct cairn_buffer *full)
{
	for (uint32_t i = 0; full == NULL && i < count; i++)
		full = members[i].memory;
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

	atomic_store_explicit(&ring->switches, ring->switches + 1, memory_order_relaxed);
	atomic_store_explicit(&ring->switching_ns, ring->switching_ns + ns, memory_order_relaxed);
	if (ring->longest_ns < ns)
		atomic_store_explicit(&ring->longest_ns, ns, memory_order_relaxed);
}

struct cairn_buffer *cairn_buffers_next(uint32_t thread, struct cairn_buffer *full, uint64_t minimum, uint64_t *capacity, bool *with_sums)
{
	const int saved = errno;
	const uint64_t began = cairn_clock_ns(CLOCK_MONOTONIC), sequence = full != NULL ? full->sequence + 1 : 0;
	const char *why = NULL;
	struct cairn_buffer *s = NULL;

	pthread_mutex_lock(&lock);
	if (full != NULL) {
		close_buffer(full);
		read_answer();
	}
	if (answer.header.stopped[0] != 0)
		why = answer.header.stopped;
	else if (atomic_load(&cairn_state) != CAIRN_OFF) // or else a buffer says why, and keeps it
		s = fresh_buffer(full, minimum, &why);
	if (s != NULL) {
		struct member *m = member_of(s);
		cairn_buffer_begin(s, thread, sequence, ++taken);
		*capacity = s->capacity;
		if (m != NULL)
			m->open = true;
		else
			count_other(size_of(s));
		*with_sums = sums = gives_up_times();
	} else if (atomic_load(&cairn_state) != CAIRN_OFF) {
		stop(why, full != NULL && member_of(full) != NULL ? full : NULL);
	}
	if (unannounced >= WAKE_BYTES || s == NULL) {
		unannounced = 0;
		wake();
	}
	count_switch(began);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return s;
}

void cairn_ballot_request(uint64_t number)
{
	const int saved = errno;

	atomic_store_explicit(&ring->cuts, number + 1, memory_order_release);
	wake();
	errno = saved;
}

bool cairn_ballot_read(uint64_t number, struct cairn_ballot_answer *ballot)
{
	char path[sizeof(cairn_config.spool) + 600];
	const int saved = errno, file = open_answer(path, sizeof(path));
	struct cairn_compressor h;
	bool there = false;

	if (file >= 0) {
		there = is_answer(&h, read(file, &h, sizeof(h))) && h.cut == number + 1;
		close(file);
	}
	if (there)
		*ballot = (struct cairn_ballot_answer){h.signature, h.unchanged, h.period, h.calls};
	errno = saved;
	return there;
}
