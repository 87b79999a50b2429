// What a thread that calls MPI has: the buffer that its records go to, and what of its last call the next one needs. thread.c
// defines it and knows no other file.
#ifndef CAIRN_THREAD_H
#define CAIRN_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "hidden.h"

enum { CAIRN_DEPTH = 16 }; // calls inside callbacks inside calls

struct cairn_thread {
	char *cursor;                 // where the next record goes
	char *soft;                   // end of the buffer, less the reserve for nested calls; these may be beyond it
	char *hard;                   // end of the buffer
	struct cairn_segment *segment;
	uint32_t depth;               // open records
	uint32_t busy;
	uint32_t generation;          // counts buffers
	uint32_t number;              // of the thread, + 1; 0: has none yet
	bool early;                   // the buffer is not the core's
	uint64_t dropped;             // records lost before there was a segment to say so
	uintptr_t code_begin, code_size; // of the module that the last call came from
	uintptr_t python_begin, python_size; // of the extension of Python that the last such call came from
	const void *frame[CAIRN_DEPTH]; // where on the stack the open records' wrappers are

	// of evidence.h, in ticks
	uint64_t returned;            // when the last call returned; 0: the computation since does not count
	uint64_t long_ticks;          // what is long; 0: not known yet
	uint64_t expiry;              // when the last reading is old
	uint64_t last_caller;         // of that call
	uint16_t last_function;
	uint64_t long_after[16];      // callers of calls after which a computation was long, by CAIRN_LONG_SLOT
};

#define CAIRN_LONG_SLOT(caller) ((caller) * 0x9e3779b97f4a7c15u >> 60)

extern CAIRN_HIDDEN __thread struct cairn_thread cairn_self __attribute__((tls_model("initial-exec")));

// cairn_thread_number names the calling thread in files: + 1, in the order in which threads came.
uint32_t cairn_thread_number(void);

// cairn_thread_forget leaves the thread without a buffer; its open records are dead.
void cairn_thread_forget(struct cairn_thread *t);

// cairn_busy says whether the thread is inside of the shim, for signal handlers that interrupt it.
static inline void cairn_busy(struct cairn_thread *t, uint32_t busy)
{
	t->busy = busy;
	atomic_signal_fence(memory_order_seq_cst);
}

#endif
