// A record buffer, as the shim and the recorder share it
// (docs/decisions/0001-seams.md, "Raw records"): a header, then records.
#ifndef CAIRN_BUFFER_H
#define CAIRN_BUFFER_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "layout_gen.h"

enum {
	CAIRN_HEADER = CAIRN_RECORD_BYTES, // before a record's inputs
	CAIRN_ORIGINALS = 512,             // entries of a buffer's table; a power of two
	CAIRN_DEPTH = 16,                  // maximal nesting of calls in callbacks
};

// Fields that are written together also have a name as one word, with the first field
// in the low bits.
struct cairn_record_header {
	union {
		struct {
			uint32_t length;
			uint16_t function;
			uint8_t binding, flags;
		};
		uint64_t first;
	};
	union {
		struct {
			uint32_t reserved;
			_Atomic uint16_t state;
			_Atomic uint16_t next; // the writer's: offset of the original that followed last time, or 0
		};
		_Atomic uint64_t second;
	};
	uint64_t epoch, enter, exit, caller, result;
};
CAIRN_LAYOUT_RECORD(struct cairn_record_header);

// A short record; what follows it depends on its state.
struct cairn_short_record {
	_Atomic uint64_t first; // state, original, duration
	uint64_t second;        // enter, epoch
};

// Fields of the first word.
#define CAIRN_SHORT_RECORD(state, original, tail) \
	(CAIRN_SHORT | (uint64_t)(state) << CAIRN_SHORT_STATE_SHIFT | (uint64_t)(original) << CAIRN_SHORT_ORIGINAL_SHIFT | \
		(uint64_t)(tail) << CAIRN_SHORT_DURATION_SHIFT)

// The first values that do not fit in a field.
#define CAIRN_SHORT_MAX_ORIGINAL (1u << (CAIRN_SHORT_DURATION_SHIFT - CAIRN_SHORT_ORIGINAL_SHIFT))
#define CAIRN_SHORT_MAX_DURATION ((uint64_t)1 << (64 - CAIRN_SHORT_DURATION_SHIFT))
#define CAIRN_SHORT_MAX_ENTER ((uint64_t)1 << CAIRN_SHORT_ENTER_BITS)
#define CAIRN_SHORT_MAX_EPOCH ((uint64_t)1 << (64 - CAIRN_SHORT_ENTER_BITS))

// A summed record. Its calls are those that progress counts: a call is in it once progress says so.
struct cairn_summed {
	union {
		struct {
			uint32_t length;
			uint16_t function; // CAIRN_SUMMED_RECORD
			uint8_t binding, flags;
		};
		uint64_t first;
	};
	union {
		struct {
			uint32_t rows;
			_Atomic uint16_t state;
			uint16_t next;
		};
		uint64_t second;
	};
	uint64_t epoch; // of all its calls
	uint64_t enter; // of the first one
	_Atomic uint64_t progress;
};
CAIRN_LAYOUT_SUMMED(struct cairn_summed);

struct cairn_sums {
	uint64_t gap, duration; // the gap before the first call of the record is not in it
};
CAIRN_LAYOUT_SUMS(struct cairn_sums);

struct cairn_buffer {
	char magic[8];
	uint32_t format, thread;
	uint64_t sequence;
	_Atomic uint64_t used; // bytes of records that readers may look at
	uint64_t dropped;
	uint64_t ticks, monotonic_ns, realtime_ns, epoch;
	uint64_t taken;          // number of this use among all of the process's buffers, from 1
	_Atomic uint64_t closed; // 1: the thread writes no more to it
	_Atomic uint64_t unwound; // when an exception or the end of a thread was last seen to leave a call; 0: it was not
	uint64_t unwound_from;   // when the outermost call was entered that it left; 0: it left all
	uint64_t began;          // number of threads that began here, after the one before had ended
	char stopped[CAIRN_STOPPED_BYTES];
	// Not part of the format; readers of the file ignore the following fields.
	uint64_t capacity; // bytes of records
	// By nesting, the call that was entered last: bytes of records up to behind the first two words
	// of its own.
	uint32_t opened[CAIRN_DEPTH];
	// The records that short records can refer to, by hash: offsets in words; 0: none.
	_Alignas(64) uint16_t originals[CAIRN_ORIGINALS];
};
CAIRN_LAYOUT_BUFFER(struct cairn_buffer);
_Static_assert(sizeof(struct cairn_buffer) <= CAIRN_BUFFER_HEADER, "the header is larger than its page");

// cairn_buffer_begin initializes the header of a buffer, which may be reused. A process can be
// killed between any two stores: a buffer without magic is invalid, and with it the whole
// header is valid.
static inline void cairn_buffer_begin(struct cairn_buffer *s, uint32_t thread, uint64_t sequence, uint64_t taken)
{
	memset(s->magic, 0, sizeof(s->magic));
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&s->used, 0, memory_order_release);
	s->format = CAIRN_BUFFER_FORMAT;
	s->thread = thread;
	s->sequence = sequence;
	s->dropped = 0;
	// before taken: a reader that sees half of the header must not take the new use for closed
	atomic_store_explicit(&s->closed, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	s->taken = taken;
	s->ticks = s->monotonic_ns = s->realtime_ns = s->epoch = s->unwound_from = s->began = 0;
	atomic_store_explicit(&s->unwound, 0, memory_order_relaxed);
	s->stopped[0] = 0;
	memset(s->opened, 0, sizeof(s->opened));
	memset(s->originals, 0, sizeof(s->originals));
	atomic_thread_fence(memory_order_release);
	memcpy(s->magic, CAIRN_BUFFER_MAGIC, sizeof(s->magic));
}

#endif
