// The threads of the process: one for each thread of the recorded one, with its stream.
#ifndef CAIRN_REPLAY_THREADS_H
#define CAIRN_REPLAY_THREADS_H

#include "stream.h"

struct thread {
	int number;
	struct stream stream;
	uint64_t done; // calls
	bool ended;
	int64_t left, left_cpu; // when its last call returned: ns of CLOCK_MONOTONIC and of its CPU time
};

extern bool cr_several_threads;

// Replays all streams, the first one in the calling thread, and returns when all are at their end.
void cr_run_threads(const int *files, int n);

// What calls that initialize and finalize MPI do for all threads: the others wait for the former,
// and the latter waits for them.
void cr_threads_may_begin(void);
void cr_wait_for_threads(void);

#endif
