// State of a thread that calls MPI: its record buffer, and what the next call needs of the last
// one. What it leaves behind when it ends is its location. thread.c depends on no other file.
#ifndef CAIRN_THREAD_H
#define CAIRN_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../ring/buffer.h"
#include "hidden.h"

struct cairn_record_header;
struct cairn_summing;

// Threads that do not live at the same time share a location: a number, and a buffer with the
// records of all of them. A thread takes over that of one that has ended when it makes its first
// call, so there are hardly more locations than threads at a time.
struct cairn_location {
	_Atomic uint64_t owner;         // tid of the thread | number of takeovers << 32; 0: the location is being set up
	uint32_t number;                // from 0
	bool sums;                      // see cairn_thread
	struct cairn_buffer *buffer;    // NULL: none
	struct cairn_summing *summing;
	void *calls;                    // the cache of call_path.c
};

// The thread's last call of a Fortran procedure (fortran.h).
struct cairn_announcement {
	uint64_t caller;    // return address
	uint32_t slot;      // of the symbol
	uint32_t calls;     // number of announced calls
	uint32_t profiling; // PMPI_X was called for it: the low half of the return address
	uint32_t seen;      // number of announced calls that reached a wrapper
	void *real;         // function that the wrapper must call instead of the C function, or NULL
	const void *status; // the argument, in functions that set a status or an array of them
};

// What every call needs is in the first two cache lines: a program that computes finds hardly any in
// its caches. fortran_entry.inc depends on the offsets of announced and announcement.
struct cairn_thread {
	_Alignas(64) char *cursor;    // where the next record goes
	char *soft;                   // its end without the reserve for nested calls; cursor may be beyond it
	char *hard;                   // its end
	struct cairn_buffer *buffer;
	struct cairn_record_header *next; // the original that the next call is expected to repeat
	struct cairn_record_header *last; // the original of the last call, or its record; NULL: none
	uint64_t ticks, epoch;        // what times and epochs of the buffer's short records are relative to

	uint32_t depth;               // number of open records
	uint32_t busy;                // 0, or where the frame is of the call in which the thread is inside of the shim
	uint32_t number;              // of the thread's location, + 1; 0: none yet
	uint32_t announced;           // by a Fortran procedure: a function; 0: a wrapper has recorded it
	// for evidence.h, in ticks
	uint64_t returned;            // end of the last call; 0: ignore the computation since then
	uint64_t long_ticks;          // duration that counts as long; 0: not known yet
	uint64_t expiry;              // when the last reading becomes too old
	uint64_t last_caller;         // call site of the last call
	uint16_t last_function;
	uint16_t long_slots;          // those of long_after that are used
	bool early;                   // the buffer is one for calls before MPI_Init
	bool sums;                    // calls have sums in the place of times (record/summed.h)
	const void *frame[CAIRN_DEPTH]; // where the program called the wrappers of the open records

	struct cairn_announcement announcement;
	struct cairn_location *location; // NULL: none yet, or no memory for it
	uint64_t dropped;             // records lost while there was no buffer to count them in
	uintptr_t code_begin, code_size; // of the module that made the last call
	uintptr_t python_begin, python_size; // likewise, in a process with an interpreter of Python
	struct cairn_summing *summing; // of a thread that has given up times at least once
	uint64_t alone[32];           // call sites that are recorded without callers, by CAIRN_SITE_SLOT
	uint64_t long_after[16];      // call sites after which a computation was long, by CAIRN_LONG_SLOT
};

#define CAIRN_SITE_SLOT(caller) ((caller) * 0x9e3779b97f4a7c15u >> 59)
#define CAIRN_LONG_SLOT(caller) ((caller) * 0x9e3779b97f4a7c15u >> 60)

extern CAIRN_HIDDEN __thread struct cairn_thread cairn_self __attribute__((tls_model("initial-exec")));

// cairn_expects_long reports whether the computation after a call from a call site was long.
static inline bool cairn_expects_long(const struct cairn_thread *t, uint64_t caller)
{
	const unsigned slot = CAIRN_LONG_SLOT(caller);
	return (t->long_slots >> slot & 1) != 0 && t->long_after[slot] == caller;
}

// cairn_thread_number returns the number of the calling thread's location + 1, in the order of their
// first calls.
uint32_t cairn_thread_number(void);

// cairn_thread_count returns the number of locations.
uint32_t cairn_thread_count(void);

// cairn_thread_forget detaches the thread from its buffer; its open records become invalid.
void cairn_thread_forget(struct cairn_thread *t);

enum { CAIRN_IN_FRAME = 8 }; // frames are multiples of 16, so that busy is not 0

// cairn_busy marks the thread as inside of the shim, in the call with this frame, for signal handlers
// that interrupt it.
static inline void cairn_busy(struct cairn_thread *t, const void *frame)
{
	t->busy = (uint32_t)((uintptr_t)frame + CAIRN_IN_FRAME);
	atomic_signal_fence(memory_order_seq_cst);
}

// cairn_idle ends that.
static inline void cairn_idle(struct cairn_thread *t)
{
	t->busy = 0;
	atomic_signal_fence(memory_order_seq_cst);
}

#endif
