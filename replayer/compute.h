// Time between calls, and duration of the run.
#ifndef CAIRN_REPLAY_COMPUTE_H
#define CAIRN_REPLAY_COMPUTE_H

#include "stream.h"

enum cr_compute { CR_BUSY, CR_SLEEP, CR_NONE };

// How computation is replayed, and how much of it; duration of the recorded run in seconds (0:
// unknown).
void cr_set_compute(enum cr_compute how, double scale);
void cr_set_recorded(double seconds);

// The computation before a call, and how its result is used.
void cr_enter(struct call *c);
void cr_left(struct call *c, int result);

// After the call that initializes MPI, and before the one that finalizes it.
void cr_initialized(struct call *c);
void cr_before_finalize(struct call *c);

void cr_set_ranks(int ranks); // of the recorded run

#endif
