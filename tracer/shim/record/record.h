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

#include "../../core/buffer.h"
#include "../address/call_path.h"
#include "../evidence/evidence.h"
#include "../process/clock.h"
#include "../process/state.h"
#include "../process/thread.h"

enum {
	CAIRN_NESTED_RESERVE = 16384, // bytes of a buffer reserved for calls in callbacks: they cannot change the buffer
};

// For functions on the path of every call, which the compiler considers too long to inline.
#define CAIRN_INLINE inline __attribute__((always_inline))

struct cairn_record {
	struct cairn_record_header *header;
	const struct cairn_record_header *original; // NULL: the record is not short
	uint64_t first;      // function and binding, as in the header
	uint64_t size;       // bytes reserved for the record
	uint64_t inputs;     // words of header and inputs
	uint64_t epoch, exit, result;
	struct cairn_call call;
	uint8_t flags;
	uint16_t slot;       // in the buffer's table of originals
	uint32_t generation; // of the thread's buffer when the record was opened
	uint32_t depth;      // open records around this one
};

extern CAIRN_HIDDEN _Atomic uint64_t cairn_epoch;

#define CAIRN_CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))
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

// cairn_open starts a record of at most size bytes and returns where its inputs go, or NULL if the
// call is not recorded.
static CAIRN_INLINE uint64_t *cairn_open(struct cairn_record *record, unsigned function, uint64_t size, uint64_t caller)
{
	struct cairn_thread *t = &cairn_self;

	size = (size + 7) & ~(uint64_t)7;
	if (CAIRN_UNLIKELY((t->busy | t->depth) != 0 || t->soft - t->cursor < (int64_t)size)) {
		if (!cairn_open_slowly(record, function, size))
			return NULL;
	} else {
		cairn_busy(t, 1);
		record->header = (struct cairn_record_header *)t->cursor;
		record->generation = t->generation;
		record->depth = 0;
		t->frame[0] = record;
	}
	record->first = (uint64_t)function << 32 | caller >> 63 << 48; // the binding: CAIRN_FORTRAN
	record->size = size;
	record->flags = 0;
	record->epoch = atomic_load_explicit(&cairn_epoch, memory_order_relaxed) | 1;
	caller = caller << 1 >> 1;
	if (CAIRN_UNLIKELY((uintptr_t)caller - t->code_begin >= t->code_size))
		caller = cairn_other_module(caller);
	if (t->alone[CAIRN_SITE_SLOT(caller)] != caller && cairn_call_paths)
		caller = cairn_call_path(caller);
	record->call.caller = caller;
	record->call.function = (uint16_t)function;
	return (uint64_t *)(record->header + 1);
}

// cairn_epoch_before orders the record before everything that other threads do after this call.
static inline void cairn_epoch_before(struct cairn_record *record)
{
	record->epoch = atomic_fetch_add_explicit(&cairn_epoch, 2, memory_order_relaxed) + 2;
}

static inline void cairn_epoch_after(struct cairn_record *record)
{
	cairn_epoch_before(record);
}

// cairn_enter publishes the record, whose inputs end at word, and finally reads the clock. It returns
// where the outputs go.
uint64_t *cairn_enter(struct cairn_record *record, uint64_t *word);

// cairn_exit first reads the clock. It returns where the outputs go, or NULL if the record is not
// ours any more (the process was forked in the call).
static CAIRN_INLINE uint64_t *cairn_exit(struct cairn_record *record, uint64_t *word, uint64_t result)
{
	uint64_t now = cairn_now();
	struct cairn_thread *t = &cairn_self;

	if (CAIRN_UNLIKELY(record->generation != t->generation))
		return NULL;
	cairn_busy(t, 1);
	record->exit = now;
	record->result = result;
	const uint64_t caller = record->call.caller;
	if (CAIRN_UNLIKELY(now - record->call.enter >= t->long_ticks || now >= t->expiry || t->long_after[CAIRN_LONG_SLOT(caller)] == caller))
		cairn_evidence_exit(t, &record->call, now);
	t->returned = now;
	t->last_caller = caller;
	t->last_function = record->call.function;
	return word;
}

// cairn_commit ends the record, whose outputs and extras end at word.
void cairn_commit(struct cairn_record *record, const uint64_t *word);

#endif
