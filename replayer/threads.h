// The threads of the process: one for each that the recorded one had, with its stream.
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

// Executes all streams, that of the first file in the calling thread, and returns when all are at their end.
void cr_run_threads(const int *files, int n);

// What calls that begin and end the use of MPI do for all threads: the others wait for the first, and the second for them.
void cr_threads_may_begin(void);
void cr_wait_for_threads(void);

#endif
