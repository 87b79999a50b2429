#include "record.h"

#include <errno.h>
#include <string.h>

#include "../address/modules.h"
#include "../address/python.h"
#include "../address/unwind.h"
#include "../bind/reference.h"
#include "../evidence/life.h"
#include "../process/config.h"
#include "../process/memory.h"
#include "../process/uninterrupted.h"
#include "../process/wide.h"
#include "buffers.h"
#include "left.h"
#include "summed.h"

_Atomic uint64_t cairn_epoch = 2;

// Calls before MPI_Init go here if they are made by the first thread that makes one (C++
// constructors call MPI_Initialized). More calls, or other threads', go to mapped memory, which
// is allocated on use: a program may list all variables of the tool interface before it
// initializes MPI.
enum { EARLY = 65536, MAX_EARLY = 4 << 20 };
static _Alignas(struct cairn_buffer) char early[CAIRN_BUFFER_HEADER + EARLY];
static _Atomic int early_taken;

// set_buffer gives the thread a buffer that has no room before open_buffer.
static void set_buffer(struct cairn_thread *t, struct cairn_buffer *buffer, uint64_t capacity, bool is_early)
{
	t->soft = t->hard = NULL;
	t->early |= is_early;
	atomic_signal_fence(memory_order_seq_cst);
	t->buffer = buffer;
	atomic_signal_fence(memory_order_seq_cst);
	t->early = is_early;
	t->sums = false;
	t->next = t->last = NULL;
	t->ticks = buffer->ticks;
	t->epoch = buffer->epoch;
	t->cursor = (char *)buffer + CAIRN_BUFFER_HEADER;
	t->hard = t->cursor + capacity;
}

static void open_buffer(struct cairn_thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	// Before MPI_Init as if there were no room: every call comes to cairn_open_slowly, which notices
	// that MPI was initialized, on whichever thread.
	t->soft = t->early ? (char *)t->buffer + CAIRN_BUFFER_HEADER : t->hard - CAIRN_NESTED_RESERVE;
}

// written returns the number of bytes of the thread's buffer up to the next record.
static uint64_t written(const struct cairn_thread *t)
{
	return (uint64_t)(t->cursor - (char *)t->buffer) - CAIRN_BUFFER_HEADER;
}

// early_room finds room for a record before MPI_Init.
static bool early_room(struct cairn_thread *t, uint64_t size)
{
	const uint64_t needed = size + CAIRN_NESTED_RESERVE;

	if (t->buffer == NULL && atomic_exchange(&early_taken, 1) == 0)
		set_buffer(t, (struct cairn_buffer *)early, EARLY, true), open_buffer(t);
	if (t->buffer != NULL && t->hard - t->cursor >= (int64_t)needed)
		return true;
	uint64_t kept = t->buffer != NULL ? written(t) : 0;
	if ((t->buffer != NULL && (char *)t->buffer != early) || kept + needed > MAX_EARLY)
		return false;
	const int saved = errno;
	char *buffer = cairn_map(CAIRN_BUFFER_HEADER + MAX_EARLY, PROT_READ | PROT_WRITE, -1);
	errno = saved;
	if (buffer == NULL)
		return false;
	if (t->buffer != NULL)
		memcpy(buffer, t->buffer, CAIRN_BUFFER_HEADER + kept);
	set_buffer(t, (struct cairn_buffer *)buffer, MAX_EARLY, true);
	t->cursor += kept;
	open_buffer(t);
	return true;
}

uint64_t cairn_other_module(uint64_t caller)
{
	struct cairn_thread *t = &cairn_self;

	// Earlier the list of modules is not written yet. Without call sites nobody needs it.
	if (atomic_load_explicit(&cairn_state, memory_order_acquire) != CAIRN_ON)
		return caller;
	if (!cairn_config.call_sites) {
		t->code_begin = 0;
		t->code_size = UINTPTR_MAX;
		return caller;
	}
	if ((uintptr_t)caller - t->python_begin < t->python_size)
		return cairn_python_line(caller);
	if (cairn_modules_use((uintptr_t)caller))
		cairn_python_look();
	if (atomic_load_explicit(&cairn_python_loaded, memory_order_relaxed)) {
		// Every call comes here from now on: whatever module makes it, Python may be below.
		t->code_begin = t->code_size = 0;
		if (!cairn_modules_know((uintptr_t)caller, &t->python_begin, &t->python_size)) {
			t->python_begin = (uintptr_t)caller;
			t->python_size = 1;
		}
		return cairn_python_line(caller);
	}
	if (!cairn_modules_know((uintptr_t)caller, &t->code_begin, &t->code_size)) {
		t->code_begin = (uintptr_t)caller; // code of no module (generated at run time)
		t->code_size = 1;
	}
	return caller;
}

// read_clocks samples TSC, MONOTONIC and REALTIME together and keeps the fastest of several tries:
// a preemption between two reads would shift every time stamp of the rank.
static void read_clocks(struct cairn_buffer *s)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CAIRN_CLOCK_READINGS; i++) {
		uint64_t ticks = cairn_now(), monotonic_ns = cairn_clock_ns(CLOCK_MONOTONIC);
		uint64_t realtime_ns = cairn_clock_ns(CLOCK_REALTIME), took = cairn_now() - ticks;
		if (took < least) {
			least = took;
			s->ticks = ticks;
			s->monotonic_ns = monotonic_ns;
			s->realtime_ns = realtime_ns;
		}
	}
}

// take_over has a thread that has no buffer go on in that of its location, if there is one: after
// the records of a thread that has ended, whose open calls nobody comes back to.
static void take_over(struct cairn_thread *t)
{
	(void)cairn_thread_number(); // it finds a location
	struct cairn_location *l = t->location;

	if (l == NULL || t->buffer != NULL || l->buffer == NULL)
		return;
	const bool closed = atomic_load_explicit(&l->buffer->closed, memory_order_relaxed) != 0; // it was being changed
	t->summing = l->summing;
	set_buffer(t, l->buffer, l->buffer->capacity, false);
	if (t->summing != NULL)
		cairn_sums_end(t);
	if (l->sums)
		cairn_sums_begin(t);
	t->cursor = cairn_leave(t->buffer, 0, cairn_now());
	t->buffer->began++;
	if (!closed)
		open_buffer(t);
}

// What a change of buffers has begun with, for one that is begun again: the buffer that it leaves,
// bytes of records of an early buffer, and the number of lost calls.
static __thread struct {
	struct cairn_buffer *left;
	uint64_t kept, lost;
} moved __attribute__((tls_model("initial-exec")));

// change_buffer closes the thread's full buffer and continues in a fresh one. If it is left in the
// middle, the thread has no room, and its next call does it again. The caller must hold the lock of
// the buffers, which it gives back.
static bool change_buffer(struct cairn_thread *t, uint64_t size)
{
	struct cairn_buffer *const full = t->buffer, *fresh;
	const bool was_early = t->early && full != NULL;
	uint64_t capacity = 0;
	bool sums = false;

	if (t->sums)
		cairn_sums_end(t);
	t->soft = t->hard = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	if (was_early && full->taken == 0) {
		moved.kept = written(t);
		moved.lost += full->dropped;
		full->dropped = 0;
	}
	if (moved.left == NULL)
		moved.left = full;
	moved.lost += t->dropped;
	t->dropped = 0;
	// 1. Get a fresh buffer.
	fresh = cairn_buffers_next(cairn_thread_number() - 1, was_early && full->taken == 0 ? NULL : full,
		moved.kept + size + CAIRN_NESTED_RESERVE, &capacity, &sums);
	if (fresh == NULL) {
		if (!cairn_life_lost(moved.lost))
			t->dropped = moved.lost;
		moved.left = NULL, moved.kept = moved.lost = 0;
		cairn_thread_forget(t);
		cairn_buffers_unlock(NULL);
		cairn_stop(NULL); // the reason was printed already
		return false;
	}
	read_clocks(fresh);
	fresh->epoch = atomic_load_explicit(&cairn_epoch, memory_order_relaxed);
	fresh->dropped = moved.lost;
	if (moved.kept != 0) {
		if (full != fresh)
			memcpy((char *)fresh + CAIRN_BUFFER_HEADER, (char *)full + CAIRN_BUFFER_HEADER, moved.kept);
		atomic_store_explicit(&fresh->used, moved.kept, memory_order_release);
	}
	// 2. Go on in it.
	set_buffer(t, fresh, capacity, false);
	t->cursor += moved.kept;
	if (sums)
		cairn_sums_begin(t);
	if (t->location != NULL) {
		t->location->buffer = fresh;
		t->location->sums = sums;
		t->location->summing = t->summing;
	}
	struct cairn_buffer *const left = moved.left;
	moved.left = NULL, moved.kept = moved.lost = 0;
	cairn_buffers_unlock(left);
	open_buffer(t);
	// 3. Unmap the full one.
	if (left != NULL && left != fresh && left->taken != 0)
		cairn_buffers_unmap(left);
	else if (left != NULL && left != fresh && (char *)left != early)
		cairn_unmap(left, CAIRN_BUFFER_HEADER + MAX_EARLY);
	return t->soft - t->cursor >= (int64_t)size;
}

// refresh_modules notices modules that were loaded at the address of unloaded ones: not at each
// change of a buffer, since signals are blocked meanwhile.
static void refresh_modules(void)
{
	enum { EVERY = 1000000000 }; // ns
	static _Atomic uint64_t due;
	const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);

	if (!cairn_config.call_sites || atomic_load_explicit(&cairn_state, memory_order_relaxed) != CAIRN_ON ||
	    now < atomic_load_explicit(&due, memory_order_relaxed))
		return;
	atomic_store_explicit(&due, now + EVERY, memory_order_relaxed);
	cairn_modules_refresh();
	cairn_modules_retry(false);
}

// next_buffer reports whether the thread has room for a record, in its buffer or in another one.
static __attribute__((noinline, cold)) bool next_buffer(struct cairn_thread *t, uint64_t size)
{
	const int saved = errno;
	bool room;

	cairn_know_own_stack();
	refresh_modules();
	take_over(t);
	room = (t->buffer != NULL && t->soft - t->cursor >= (int64_t)size) || (cairn_buffers_lock(__builtin_frame_address(0)) && change_buffer(t, size));
	errno = saved;
	return room;
}

void cairn_count_dropped(uint64_t calls)
{
	struct cairn_thread *t = &cairn_self;
	if (t->buffer != NULL && t->soft != NULL) // or it is being changed
		t->buffer->dropped += calls;
	else if (!cairn_life_lost(calls))
		t->dropped += calls;
}

// leave closes the records of the thread's calls that are nested at least so deep: nobody comes back
// to them.
static void leave(struct cairn_thread *t, unsigned depth, uint64_t at)
{
	if (t->sums)
		cairn_sums_end(t);
	t->cursor = cairn_leave(t->buffer, depth, at);
	t->depth = t->depth < depth ? t->depth : depth;
	if (depth < CAIRN_DEPTH)
		memset(t->frame + depth, 0, (CAIRN_DEPTH - depth) * sizeof(t->frame[0]));
}

// leave_calls closes the records of calls that another one shows to have been left.
static void leave_calls(struct cairn_thread *t, const void *frame, uint64_t size, unsigned function)
{
	unsigned depth;

	if (t->depth == 0)
		return;
	depth = function == CAIRN_ID_MPI_Finalize ? 0 : cairn_still_open(t, frame);
	// Where nothing is known of a call on another stack, it must not cost the later ones.
	if (depth > 0 && (depth == CAIRN_DEPTH || t->hard - t->cursor < (int64_t)size) && !cairn_on_own_stack((uintptr_t)t->frame[0]))
		depth = 0;
	if (depth < t->depth)
		leave(t, depth, cairn_now());
}

bool cairn_open_slowly(struct cairn_record *record, unsigned function, uint64_t size)
{
	struct cairn_thread *t = &cairn_self;
	int state = atomic_load_explicit(&cairn_state, memory_order_acquire);
	bool room;

	if (state == CAIRN_OFF) {
		// No later, smaller record may go where this one had no room: MPI_Finalize would make the
		// trace look whole.
		t->soft = (char *)t->buffer;
		cairn_life_lost(1);
		if (function == CAIRN_ID_MPI_Finalize || function == CAIRN_ID_MPI_Session_finalize)
			cairn_life_finalized();
		return false;
	}
	if (t->busy != 0 && !cairn_resumes(t, record->frame)) {
		// From a signal handler that interrupted us.
		cairn_count_dropped(1);
		return false;
	}
	if (t->busy != 0) { // what it was interrupted in is not completed
		cairn_rare_left();
		if (t->buffer != NULL)
			leave(t, CAIRN_DEPTH, 0);
	}
	cairn_busy(t, record->frame);
	leave_calls(t, record->frame, size, function);
	if (t->depth > 0)
		room = t->depth < CAIRN_DEPTH && t->hard - t->cursor >= (int64_t)size;
	else if (t->soft - t->cursor >= (int64_t)size && t->buffer != NULL)
		room = true;
	else if (size > UINT32_MAX)
		room = false; // a record cannot be that long
	else if (state == CAIRN_ON)
		room = next_buffer(t, size);
	else
		room = early_room(t, size);
	if (!room) {
		cairn_count_dropped(1);
		cairn_idle(t);
		return false;
	}
	record->header = (struct cairn_record_header *)t->cursor;
	record->depth = t->depth;
	record->flags = 0;
	t->frame[t->depth] = record->frame;
	return true;
}

// What a call that repeats an earlier one has no part in is elsewhere in the code.
#define LATER __attribute__((noinline, cold))

enum { MAX_INPUTS = 1 << (16 - CAIRN_INPUTS_SHIFT) }; // words of header and inputs of an original

bool cairn_same_words(const uint64_t *a, const uint64_t *b, uint64_t n)
{
	if (n == 0)
		return true;
	if (n & 1 && *a++ != *b++)
		return false;
	cairn_four equal = {-1, -1, -1, -1};
	for (const uint64_t *end = a + (n & ~(uint64_t)1); a != end; a += 2, b += 2)
		equal &= *(const cairn_four *)(const void *)a == *(const cairn_four *)(const void *)b;
	return cairn_all_equal(equal);
}

bool cairn_same_ints(const uint64_t *words, const int *ints, uint64_t n)
{
	for (; n & 3; n--)
		if (*words++ != (uint64_t)(int64_t)*ints++)
			return false;
	cairn_four equal = {-1, -1, -1, -1};
	for (const int *end = ints + n; ints != end; ints += 4, words += 4) {
		const cairn_four v = *(const cairn_four *)(const void *)ints, sign = v >> 31, *w = (const void *)words;
		equal &= __builtin_shuffle(v, sign, (cairn_four){0, 4, 1, 5}) == w[0];
		equal &= __builtin_shuffle(v, sign, (cairn_four){2, 6, 3, 7}) == w[1];
	}
	return cairn_all_equal(equal);
}

// slot_of hashes a call: where it comes from and the first of its n inputs, which distinguish most.
static inline uint16_t slot_of(const struct cairn_record *record, const uint64_t *inputs, uint64_t n)
{
	uint64_t hash = record->first ^ record->call.caller;

	for (const uint64_t *end = inputs + (n < 5 ? n : 5); inputs != end; inputs++)
		hash = (hash << 9 | hash >> 55) ^ *inputs;
	return (uint16_t)(hash * 0x9e3779b97f4a7c15u >> 55);
}

static inline uint64_t inputs_of(const struct cairn_record_header *h)
{
	return atomic_load_explicit(&h->state, memory_order_relaxed) >> CAIRN_INPUTS_SHIFT;
}

// begin_record writes the header of a record that is not short.
static void begin_record(struct cairn_record *record, uint64_t enter)
{
	struct cairn_record_header *h = record->header;

	h->epoch = record->epoch;
	h->enter = enter;
	h->exit = h->result = 0;
	h->caller = record->call.caller;
	// One store: what it replaces may be the two words of an open short record, which mean
	// something else.
	cairn_store_pair(h, record->first | 8 * record->inputs, record->size);
}

// enter_record enters a call whose record is not short.
static LATER uint64_t *enter_record(struct cairn_record *record, uint64_t *word)
{
	struct cairn_thread *t = &cairn_self;

	record->original = NULL;
	record->inputs = (uint64_t)(word - (uint64_t *)record->header);
	begin_record(record, 0);
	cairn_publish_open(t, (void *)record->header, word, record->depth);
	cairn_idle(t);
	uint64_t now = cairn_now();
	if (CAIRN_UNLIKELY(now - t->returned >= t->long_ticks))
		now = cairn_evidence_enter(t, &record->call, now);
	record->call.enter = record->header->enter = now;
	return word;
}

// It is late after a long computation, or when the time or the epoch do not fit.
uint64_t *cairn_repeat_late(struct cairn_record *record, uint64_t now)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_short_record *s = (void *)record->header;
	uint64_t *word = (uint64_t *)(s + 1);

	if (now - t->returned >= t->long_ticks)
		now = cairn_evidence_enter(t, &record->call, now);
	record->call.enter = now;
	if (now - t->ticks < CAIRN_SHORT_MAX_ENTER && record->epoch - t->epoch < CAIRN_SHORT_MAX_EPOCH) {
		s->second |= now - t->ticks;
		return word;
	}
	// It becomes a record that is not short. Its inputs are those of the original.
	const struct cairn_record_header *o = record->original;
	record->inputs = inputs_of(o);
	record->first = o->first & CAIRN_FUNCTION_AND_BINDING;
	record->slot = CAIRN_ORIGINALS; // no original
	record->linked = false;
	record->original = NULL;
	word = (uint64_t *)s + record->inputs;
	cairn_busy(t, record->frame);
	memcpy(record->header + 1, o + 1, 8 * record->inputs - CAIRN_HEADER);
	if (t->cursor == (char *)s + record->size) // no call of a signal handler is behind it
		cairn_publish(t, word);
	begin_record(record, now);
	cairn_idle(t);
	return word;
}

uint64_t *cairn_enter(struct cairn_record *record, uint64_t *word)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_short_record *s = (void *)record->header;
	uint64_t *inputs = (uint64_t *)(record->header + 1);
	const uint64_t epoch = record->epoch - t->epoch, n = (uint64_t)(word - inputs);
	const uint16_t slot = slot_of(record, inputs, n), offset = t->buffer->originals[slot];
	struct cairn_record_header *o = (void *)((uint64_t *)(void *)t->buffer + offset);

	record->slot = slot;
	t->cursor = (char *)s + record->size;
	t->depth = record->depth + 1;
	// The original has the same words up to the end of its inputs, without length and flags.
	if (CAIRN_UNLIKELY(offset == 0 || o->caller != record->call.caller || ((o->first ^ record->first) & CAIRN_FUNCTION_AND_BINDING) != 0 ||
		inputs_of(o) != n + CAIRN_HEADER / 8 || epoch >= CAIRN_SHORT_MAX_EPOCH))
		return enter_record(record, word);
	if (CAIRN_UNLIKELY(!cairn_same_words((const uint64_t *)(o + 1), inputs, n)))
		return enter_record(record, word);
	record->original = o;
	s->second = epoch << CAIRN_SHORT_ENTER_BITS;
	atomic_store_explicit(&s->first, cairn_short_record(record, CAIRN_SHORT_OPEN, record->size), memory_order_release);
	cairn_publish_open(t, s, s + 1, record->depth);
	cairn_idle(t);
	const uint64_t now = cairn_now();
	if (CAIRN_UNLIKELY(now - t->returned >= t->long_ticks || now - t->ticks >= CAIRN_SHORT_MAX_ENTER))
		return cairn_repeat_late(record, now);
	record->call.enter = now;
	s->second |= now - t->ticks;
	return (uint64_t *)(s + 1);
}

void cairn_reserve(struct cairn_record *record)
{
	struct cairn_short_record *s = (void *)record->header;

	if (record->original != NULL)
		atomic_store_explicit(&s->first, cairn_short_record(record, CAIRN_SHORT_OPEN, record->size), memory_order_release);
	else
		atomic_store_explicit(&record->header->second, record->size, memory_order_release);
}

// committed ends the thread's innermost call. original is what later calls can repeat, or NULL.
static inline void committed(struct cairn_thread *t, const struct cairn_record *record, struct cairn_record_header *original)
{
	uint64_t *begin = (uint64_t *)(void *)t->buffer;

	if (original != NULL) {
		if (t->last != NULL && record->linked)
			atomic_store_explicit(&t->last->next, (uint16_t)((uint64_t *)original - begin), memory_order_relaxed);
		// what is expected gets a short record
		t->next = t->sums ? NULL : (struct cairn_record_header *)(begin + atomic_load_explicit(&original->next, memory_order_relaxed));
	}
	t->last = original;
	t->depth = record->depth;
	cairn_end_record(t, record);
}

// commit_record commits a record that is not short.
static LATER void commit_record(struct cairn_record *record, const uint64_t *word)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_record_header *h = record->header;
	const uint64_t length = (uint64_t)((const char *)word - (char *)h);

	if (t->sums)
		cairn_sums_end(t);
	const uint64_t offset = (uint64_t)((uint64_t *)(void *)h - (uint64_t *)(void *)t->buffer);

	h->epoch = record->epoch;
	h->exit = record->exit;
	h->result = record->result;
	if (CAIRN_LIKELY(t->cursor == (char *)h + record->size)) { // nothing is nested in it
		record->size = length;
		t->cursor = (char *)h + length;
		cairn_publish(t, word);
	}
	const bool original = offset < CAIRN_SHORT_MAX_ORIGINAL && record->inputs < MAX_INPUTS && record->slot < CAIRN_ORIGINALS && !t->early;
	const uint64_t state = (original ? record->inputs << CAIRN_INPUTS_SHIFT : 0) | CAIRN_COMMITTED;
	h->first = record->first | length | (uint64_t)record->flags << 56;
	atomic_store_explicit(&h->second, record->size | state << 32, memory_order_release);
	if (original)
		t->buffer->originals[record->slot] = (uint16_t)offset;
	committed(t, record, original ? h : NULL);
}

// commit_explicit commits a short record that differs from its original in more than its outputs,
// or whose times do not fit. It has room: what is reserved is enough for a record that is not
// short, which has more words before its outputs.
static LATER void commit_explicit(struct cairn_record *record, const uint64_t *word)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_short_record *s = (void *)record->header;
	uint64_t *outputs = (uint64_t *)(s + 1), *w = outputs;
	const uint64_t n = (uint64_t)(word - outputs), length = CAIRN_HEADER + 8 * n;

	if (t->sums)
		cairn_sums_end(t);
	memmove((char *)w + CAIRN_EXPLICIT_MORE, outputs, 8 * n);
	*w++ = (record->original->first & CAIRN_FUNCTION_AND_BINDING) | length | (uint64_t)record->flags << 56;
	*w++ = record->epoch;
	*w++ = record->call.enter;
	*w++ = record->exit;
	*w++ = record->result;
	if (t->cursor == (char *)s + record->size) {
		record->size = length;
		t->cursor = (char *)s + length;
		cairn_publish(t, t->cursor);
	}
	atomic_store_explicit(&s->first, cairn_short_record(record, CAIRN_SHORT_EXPLICIT, record->size), memory_order_release);
	committed(t, record, record->original);
}

void cairn_commit(struct cairn_record *record, const uint64_t *word)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_record_header *o = record->original;
	struct cairn_short_record *s = (void *)record->header;

	if (CAIRN_UNLIKELY(t->depth > record->depth + 1)) // what was called in it was left
		leave(t, record->depth + 1, record->exit);
	if (CAIRN_UNLIKELY(o == NULL)) {
		commit_record(record, word);
		return;
	}
	const uint64_t *outputs = (const uint64_t *)(s + 1), inputs = inputs_of(o), n = (uint64_t)(word - outputs);
	const uint64_t epoch = record->epoch - t->epoch, duration = record->exit - record->call.enter;
	if (CAIRN_UNLIKELY(t->cursor != (char *)s + record->size || duration >= CAIRN_SHORT_MAX_DURATION || epoch >= CAIRN_SHORT_MAX_EPOCH ||
		o->length != 8 * (inputs + n) || o->result != record->result || o->flags != record->flags)) {
		commit_explicit(record, word);
		return;
	}
	unsigned state = CAIRN_SHORT_EQUAL;
	if (cairn_same_words(outputs, (const uint64_t *)o + inputs, n)) {
		char *end = CAIRN_UNLIKELY(t->sums) ? cairn_sum(t, record) : NULL;
		if (end != NULL) {
			t->cursor = end;
			committed(t, record, record->original);
			return;
		}
		word = outputs;
	} else {
		state = CAIRN_SHORT_OUTPUTS;
		cairn_publish(t, word);
		if (CAIRN_UNLIKELY(t->sums))
			cairn_sums_end(t);
	}
	t->cursor = (char *)(uintptr_t)word;
	s->second = epoch << CAIRN_SHORT_ENTER_BITS | (record->call.enter - t->ticks);
	atomic_store_explicit(&s->first, cairn_short_record(record, state, duration), memory_order_release);
	committed(t, record, record->original);
}

void cairn_reference_stamps(const struct cairn_record *record)
{
	const bool there = record != NULL && cairn_self.frame[record->depth] == record->frame;

	cairn_reference->stamps(there ? record->call.enter : 0, there ? record->exit : 0);
}
