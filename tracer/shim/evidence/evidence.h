// Evidence of CPU and kernel activity: what the operating system counted for a thread during long
// computations and calls (evidence.c). The trace has sums by call site, and the largest instances.
#ifndef CAIRN_EVIDENCE_H
#define CAIRN_EVIDENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../ring/layout_gen.h"
#include "../process/hidden.h"

struct cairn_thread;

// A call of the application as evidence needs it.
struct cairn_call {
	uint64_t caller; // as in its record
	uint64_t enter;  // ticks
	uint16_t function;
};

enum { CAIRN_EVIDENCE_TASKS = 64 }; // threads that are known to call MPI

// What getrusage counts for a thread; −1: not known.
struct cairn_evidence_usage {
	int64_t minor_faults, major_faults, voluntary, involuntary, system_ns;
};
CAIRN_LAYOUT_EVIDENCE_USAGE(struct cairn_evidence_usage);

// Sums over the measured instances of a row; −1: not known.
struct cairn_evidence_sums {
	uint64_t count;
	int64_t wall_ns, cpu_ns, delay_ns, other_ns;
	int64_t blocked_ns;                // of instances that were blocked long enough for I/O to be read
	int64_t seen_ns, io_bytes, io_calls; // of those whose I/O is known
	int64_t data_ns;                   // time blocked of those that moved data
	struct cairn_evidence_usage usage;
};
CAIRN_LAYOUT_EVIDENCE_SUMS(struct cairn_evidence_sums);

struct cairn_evidence_row {
	uint32_t thread;
	uint16_t after, before;                // functions; after UINT16_MAX: in the call
	uint64_t after_caller, before_caller;  // call sites as in records
	uint64_t ticks;                        // of all long instances, measured or not
	_Atomic uint64_t which;                // index of the valid sums + 1; 0: none yet
	struct cairn_evidence_sums sums[2];
};
CAIRN_LAYOUT_EVIDENCE_ROW(struct cairn_evidence_row);

struct cairn_evidence_instance {
	_Atomic int64_t size; // sort key in ns; 0: unused
	uint64_t row, begin_ticks;
	int64_t wall_ns, cpu_ns, delay_ns, io_bytes;
	struct cairn_evidence_usage usage;
};
CAIRN_LAYOUT_EVIDENCE_INSTANCE(struct cairn_evidence_instance);

struct cairn_evidence_thread {
	int64_t tid, cpu_ns, delay_ns, flags; // flags: 1 calls MPI
	char name[16];
};
CAIRN_LAYOUT_EVIDENCE_THREAD(struct cairn_evidence_thread);

// Format read by tracer/recorder/observed/evidence.go.
struct cairn_evidence_file {
	char magic[8];
	_Atomic uint64_t rows;
	_Atomic uint64_t threads; // number | table << 32
	struct cairn_evidence_instance instances[2][CAIRN_EVIDENCE_INSTANCES];
	struct cairn_evidence_thread thread[2][CAIRN_EVIDENCE_THREADS];
	struct cairn_evidence_row row[CAIRN_EVIDENCE_ROWS];
};
CAIRN_LAYOUT_EVIDENCE(struct cairn_evidence_file);

// cairn_evidence_begin creates the file. Without it nothing is measured.
void cairn_evidence_begin(void);

// cairn_evidence_enter must be called at the entry into a call if the thread's previous call
// returned long before. It returns the time at which the call begins, which excludes its own work.
uint64_t cairn_evidence_enter(struct cairn_thread *t, const struct cairn_call *call, uint64_t now);

// cairn_evidence_exit must be called after a call if the call was long, if a long computation is
// expected after it, or if the last reading is too old.
void cairn_evidence_exit(struct cairn_thread *t, const struct cairn_call *call, uint64_t now);

// cairn_untraced counts changes of tracing on or off: the time between calls around such a change
// is no computation.
extern CAIRN_HIDDEN _Atomic uint32_t cairn_untraced;

#endif
