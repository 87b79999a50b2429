// How tracing starts.
#ifndef CAIRN_START_H
#define CAIRN_START_H

// cairn_start begins to record when MPI is initialized for the first time. It cannot fail: where that is not possible the
// state is CAIRN_OFF.
void cairn_start(void);

#endif
