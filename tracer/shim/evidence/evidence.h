// Evidence for CPU and kernel: what the operating system counted for a thread while a computation or a call was long
// (evidence.c). The trace has that by call site, and of the largest instances.
#ifndef CAIRN_EVIDENCE_H
#define CAIRN_EVIDENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../core/layout_gen.h"
#include "../process/hidden.h"

struct cairn_thread;
struct cairn_record_header;

enum { CAIRN_EVIDENCE_TASKS = 64 }; // threads that are known to call MPI

// What passed in the instances of a row that were measured; −1: not known.
struct cairn_evidence_sums {
	uint64_t count;
	int64_t wall_ns, cpu_ns, delay_ns, other_ns;
	int64_t blocked_ns;                // of instances that were blocked for so long that I/O was looked for
	int64_t seen_ns, io_bytes, io_calls; // and of those of which it is known, and what it was
	int64_t data_ns;                   // for how long those of them were blocked that moved data
};
CAIRN_LAYOUT_EVIDENCE_SUMS(struct cairn_evidence_sums);

struct cairn_evidence_row {
	uint32_t thread;
	uint16_t after, before;                // functions; after UINT16_MAX: inside of the call
	uint64_t after_caller, before_caller;  // as in records
	uint64_t ticks;                        // of all long instances, measured or not
	_Atomic uint64_t which;                // of the sums, + 1; 0: none yet
	struct cairn_evidence_sums sums[2];
};
CAIRN_LAYOUT_EVIDENCE_ROW(struct cairn_evidence_row);

struct cairn_evidence_instance {
	_Atomic int64_t size; // what it is kept for, ns; 0: there is none
	uint64_t row, begin_ticks;
	int64_t wall_ns, cpu_ns, delay_ns, io_bytes;
};
CAIRN_LAYOUT_EVIDENCE_INSTANCE(struct cairn_evidence_instance);

struct cairn_evidence_thread {
	int64_t tid, cpu_ns, delay_ns, flags; // flags: 1 calls MPI, 2 the tracer's
	char name[16];
};
CAIRN_LAYOUT_EVIDENCE_THREAD(struct cairn_evidence_thread);

// tracer/recorder/observed/evidence.go reads it.
struct cairn_evidence_file {
	char magic[8];
	_Atomic uint64_t rows;
	_Atomic uint64_t threads; // number | table << 32
	struct cairn_evidence_instance instances[2][CAIRN_EVIDENCE_INSTANCES];
	struct cairn_evidence_thread thread[2][CAIRN_EVIDENCE_THREADS];
	struct cairn_evidence_row row[CAIRN_EVIDENCE_ROWS];
};
CAIRN_LAYOUT_EVIDENCE(struct cairn_evidence_file);

// cairn_evidence_begin makes the file. Without it nothing is measured.
void cairn_evidence_begin(void);

// cairn_evidence_enter is called at the entry into a call, at a moment that is long after the thread's previous call
// returned. It returns the moment at which the call begins: what it does itself is before that.
uint64_t cairn_evidence_enter(struct cairn_thread *t, const struct cairn_record_header *call, uint64_t now);

// cairn_evidence_exit is called when a call has returned that was long, or after which a long computation is expected, or
// when the last reading is old.
void cairn_evidence_exit(struct cairn_thread *t, const struct cairn_record_header *call, uint64_t now);

// cairn_untraced counts how often tracing was turned on or off: what lies around that is no computation.
extern CAIRN_HIDDEN _Atomic uint32_t cairn_untraced;

#endif
