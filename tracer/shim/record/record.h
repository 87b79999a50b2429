// Raw records (docs/decisions/0001-seams.md): how a wrapper writes one.
//
//	open -> inputs -> enter -> the call -> exit -> outputs, extras -> commit
//
// Inputs are written where a record that is not short has them. If the buffer has an original with
// the same inputs, a short record takes their place (0107).
//
// Nothing here allocates or takes a lock. Between open and enter and between exit and commit the
// thread is marked as busy: a call of MPI from a signal handler that interrupts it then is passed
// through and counted as dropped.
#ifndef CAIRN_RECORD_H
#define CAIRN_RECORD_H

#include "../../ring/buffer.h"
#include "../address/call_path.h"
#include "../evidence/evidence.h"
#include "../process/clock.h"
#include "../process/state.h"
#include "../process/thread.h"
#include "../spool/dictionary.h"

enum {
	CAIRN_NESTED_RESERVE = 16384, // bytes of a buffer reserved for calls in callbacks: they cannot change the buffer
};

#define CAIRN_FUNCTION_AND_BINDING ((uint64_t)0xffffff << 32) // in the first word of a record

// For functions on the path of every call, which the compiler considers too long to inline.
#define CAIRN_INLINE inline __attribute__((always_inline))

struct cairn_record {
	struct cairn_record_header *header;
	struct cairn_record_header *original; // NULL: the record is not short
	uint64_t first;      // function and binding, as in the header
	uint64_t size;       // bytes reserved for the record
	uint64_t inputs;     // words of header and inputs
	uint64_t epoch, exit, result;
	struct cairn_call call;
	uint8_t flags;
	bool linked;         // a later call may be expected to repeat it
	bool held;           // its space is used after it is committed: the thread stays busy
	uint16_t slot;       // in the buffer's table of originals
	uint32_t depth;      // open records around this one
	const void *frame;   // see CAIRN_FRAME
};

extern CAIRN_HIDDEN _Atomic uint64_t cairn_epoch;

#define CAIRN_CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))
// The program's stack where it calls a wrapper, whatever the wrapper has on its own.
#define CAIRN_FRAME ((const void *)__builtin_dwarf_cfa())
#define CAIRN_WORD(x) ((uint64_t)(intptr_t)(x))

// cairn_other_module handles a call from another module than the last one; it may be a new module.
// It returns the caller's word for the record: the caller, or the line of Python that is below it.
uint64_t cairn_other_module(uint64_t caller);

// cairn_open_slowly handles all but the usual case: it changes the buffer, finds room for a
// nested call, or gives up. Once tracing has stopped and the thread's buffer is full, it
// counts every call.
bool cairn_open_slowly(struct cairn_record *record, unsigned function, uint64_t size);

// cairn_reference_stamps passes the reference log the time stamps of a call's committed record;
// NULL: there is none.
void cairn_reference_stamps(const struct cairn_record *record);

// cairn_count_dropped counts calls of this thread that were not recorded.
void cairn_count_dropped(uint64_t calls);

// cairn_epoch_now returns the epoch of a call that needs no order of its own.
static inline uint64_t cairn_epoch_now(void)
{
	return atomic_load_explicit(&cairn_epoch, memory_order_relaxed) | 1;
}

// cairn_epoch_next returns a new epoch.
static inline uint64_t cairn_epoch_next(void)
{
	return atomic_fetch_add_explicit(&cairn_epoch, 2, memory_order_relaxed) + 2;
}

// cairn_open starts a record of at most size bytes and returns where its inputs go, or NULL if the
// call is not recorded.
static CAIRN_INLINE uint64_t *cairn_open(struct cairn_record *record, unsigned function, uint64_t size, uint64_t caller, const void *frame)
{
	struct cairn_thread *t = &cairn_self;

	size = (size + 7) & ~(uint64_t)7;
	record->frame = frame;
	if (CAIRN_UNLIKELY((t->busy | t->depth) != 0 || t->soft - t->cursor < (int64_t)size)) {
		if (!cairn_open_slowly(record, function, size))
			return NULL;
	} else {
		cairn_busy(t, frame);
		record->header = (struct cairn_record_header *)t->cursor;
		record->depth = 0;
		record->flags = 0;
		t->frame[0] = frame;
	}
	record->first = (uint64_t)function << 32 | caller >> 63 << 48; // the binding: CAIRN_FORTRAN
	record->size = size;
	record->held = false;
	record->epoch = cairn_epoch_now();
	const uint64_t address = caller << 1 >> 1;
	caller = address;
	if (CAIRN_UNLIKELY((uintptr_t)caller - t->code_begin >= t->code_size))
		caller = cairn_other_module(caller);
	const bool alone = t->alone[CAIRN_SITE_SLOT(caller)] == caller || !cairn_call_paths;
	if (!alone)
		caller = cairn_call_path(caller);
	record->linked = (alone && caller == address) || CAIRN_IS_PATH(caller);
	record->call.caller = caller;
	record->call.function = (uint16_t)function;
	return (uint64_t *)(record->header + 1);
}

// cairn_epoch_before orders the record before everything that other threads do after this call.
static inline void cairn_epoch_before(struct cairn_record *record)
{
	record->epoch = cairn_epoch_next();
}

static inline void cairn_epoch_after(struct cairn_record *record)
{
	cairn_epoch_before(record);
}

// cairn_same_words reports whether n words are equal, and cairn_same_ints whether n words are these
// ints, sign-extended.
bool cairn_same_words(const uint64_t *a, const uint64_t *b, uint64_t n);
bool cairn_same_ints(const uint64_t *words, const int *ints, uint64_t n);

// cairn_enter publishes the record, whose inputs end at word, and finally reads the clock. It
// returns where the outputs go.
uint64_t *cairn_enter(struct cairn_record *record, uint64_t *word);

// cairn_exit first reads the clock. It returns where the outputs go, or NULL if the record is not
// ours any more: the process was forked in the call, or the call was taken for one that never
// returns (cairn_open_slowly). While a call is active, no other one has its frame.
static CAIRN_INLINE uint64_t *cairn_exit(struct cairn_record *record, uint64_t *word, uint64_t result)
{
	uint64_t now = cairn_now();
	struct cairn_thread *t = &cairn_self;

	if (CAIRN_UNLIKELY(t->frame[record->depth] != record->frame))
		return NULL;
	cairn_busy(t, record->frame);
	record->exit = now;
	record->result = result;
	const uint64_t caller = record->call.caller;
	if (CAIRN_UNLIKELY(now - record->call.enter >= t->long_ticks || now >= t->expiry || cairn_expects_long(t, caller)))
		cairn_evidence_exit(t, &record->call, now);
	t->returned = now;
	t->last_caller = caller;
	t->last_function = record->call.function;
	return word;
}

// cairn_reserve publishes the size of an open record, which has become larger. What readers may
// look at must never end beyond it.
void cairn_reserve(struct cairn_record *record);

// The words that an explicit short record has more before its outputs, in bytes.
enum { CAIRN_EXPLICIT_MORE = 40 };

// cairn_commit ends the record, whose outputs and extras end at word.
void cairn_commit(struct cairn_record *record, const uint64_t *word);

// Most calls repeat the one that followed last time. They are recognized before anything is
// written. What return addresses and call paths mean is known from the original, so it is linked to
// the one before only if its caller's word is an address that needs no path, or a path:
//
//	expected -> compare inputs -> repeat -> the call -> exit -> outputs -> commit_repeat
//
// cairn_expected returns the inputs of the record that the thread's next call is expected to
// repeat, if that is a call of function by caller. The thread is busy then. NULL: it is another
// call.
static CAIRN_INLINE const uint64_t *cairn_expected(struct cairn_record *record, unsigned function, uint64_t size, uint64_t caller, const void *frame)
{
	struct cairn_thread *t = &cairn_self;

	size = (size + 7) & ~(uint64_t)7;
	if (CAIRN_UNLIKELY((t->busy | t->depth) != 0 || t->soft - t->cursor < (int64_t)size))
		return NULL;
	cairn_busy(t, frame);
	record->original = t->next;
	if (CAIRN_UNLIKELY(record->original == NULL || record->original->function != function ||
		(record->original->caller != caller &&
			(!CAIRN_IS_PATH(record->original->caller) || cairn_call_path(caller) != record->original->caller)))) {
		cairn_idle(t);
		return NULL;
	}
	record->header = (struct cairn_record_header *)t->cursor;
	record->frame = frame;
	record->depth = 0;
	record->size = size;
	record->flags = 0;
	record->held = false;
	record->linked = true;
	record->call.caller = record->original->caller;
	record->call.function = (uint16_t)function;
	return (const uint64_t *)(record->original + 1);
}

// cairn_short_record returns the first word of a short record.
static CAIRN_INLINE uint64_t cairn_short_record(const struct cairn_record *record, unsigned state, uint64_t tail)
{
	_Static_assert(CAIRN_SHORT_ORIGINAL_SHIFT == 3, "an offset in bytes is one in words at its position");
	const uint64_t bytes = (uint64_t)((const char *)record->original - (const char *)cairn_self.buffer);
	return CAIRN_SHORT_RECORD(state, 0, tail) | bytes;
}

// cairn_publish makes what is before a point of the buffer visible to readers.
static CAIRN_INLINE void cairn_publish(struct cairn_thread *t, const void *end)
{
	atomic_store_explicit(&t->buffer->used, (uint64_t)((const char *)end - (char *)t->buffer) - CAIRN_BUFFER_HEADER, memory_order_release);
}

// cairn_publish_open does so for a call with depth others around it that begins to be open.
static CAIRN_INLINE void cairn_publish_open(struct cairn_thread *t, const struct cairn_short_record *begin, const void *end, uint32_t depth)
{
	t->buffer->opened[depth] = (uint32_t)((uint64_t)((const char *)(begin + 1) - (char *)t->buffer) - CAIRN_BUFFER_HEADER);
	cairn_publish(t, end);
}

// cairn_repeat_late enters the call if that takes more than reading the clock.
uint64_t *cairn_repeat_late(struct cairn_record *record, uint64_t now);

// cairn_end_record ends the thread's work on a record.
static CAIRN_INLINE void cairn_end_record(struct cairn_thread *t, const struct cairn_record *record)
{
	if (!record->held)
		cairn_idle(t);
}

// cairn_repeat is cairn_enter for a call that was expected, with the epoch of its record.
static CAIRN_INLINE uint64_t *cairn_repeat(struct cairn_record *record, uint64_t epoch)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_short_record *s = (struct cairn_short_record *)record->header;

	record->epoch = epoch;
	t->frame[0] = record->frame;
	t->cursor = (char *)s + record->size;
	t->depth = 1;
	s->second = (record->epoch - t->epoch) << CAIRN_SHORT_ENTER_BITS;
	atomic_store_explicit(&s->first, cairn_short_record(record, CAIRN_SHORT_OPEN, record->size), memory_order_release);
	cairn_publish_open(t, s, s + 1, 0);
	cairn_idle(t);
	const uint64_t now = cairn_now();
	if (CAIRN_UNLIKELY(now - t->returned >= t->long_ticks || now - t->ticks >= CAIRN_SHORT_MAX_ENTER || epoch - t->epoch >= CAIRN_SHORT_MAX_EPOCH))
		return cairn_repeat_late(record, now);
	record->call.enter = now;
	s->second |= now - t->ticks;
	return (uint64_t *)(s + 1);
}

// cairn_commit_repeat is cairn_commit for a call that was expected, whose outputs begin at outputs.
// Their number is mostly known to the compiler, and then that of the original. reordered reports
// whether the call has got a new epoch since it was entered.
static CAIRN_INLINE void cairn_commit_repeat(struct cairn_record *record, const uint64_t *outputs, const uint64_t *word, bool reordered)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_short_record *s = (struct cairn_short_record *)record->header;
	struct cairn_record_header *o = record->original;
	const uint64_t n = (uint64_t)(word - outputs), duration = record->exit - record->call.enter;
	bool equal = o != NULL && t->cursor == (char *)s + record->size && duration < CAIRN_SHORT_MAX_DURATION &&
		o->result == record->result && o->flags == record->flags &&
		(!reordered || record->epoch - t->epoch < CAIRN_SHORT_MAX_EPOCH);

	if (equal) {
		const uint64_t *theirs = (const uint64_t *)((const char *)o + o->length) - n;
		if (__builtin_constant_p(n) && n <= 8)
			for (uint64_t i = 0; equal && i < n; i++)
				equal = outputs[i] == theirs[i];
		else
			equal = o->length == 8 * ((o->state >> CAIRN_INPUTS_SHIFT) + n) && cairn_same_words(outputs, theirs, n);
	}
	if (CAIRN_UNLIKELY(!equal)) {
		cairn_commit(record, word);
		return;
	}
	t->cursor = (char *)(s + 1);
	if (reordered)
		s->second = (record->epoch - t->epoch) << CAIRN_SHORT_ENTER_BITS | (record->call.enter - t->ticks);
	atomic_store_explicit(&s->first, cairn_short_record(record, CAIRN_SHORT_EQUAL, duration), memory_order_release);
	t->last = o;
	t->next = (struct cairn_record_header *)((uint64_t *)(void *)t->buffer + atomic_load_explicit(&o->next, memory_order_relaxed));
	t->depth = 0;
	cairn_end_record(t, record);
}

#endif
