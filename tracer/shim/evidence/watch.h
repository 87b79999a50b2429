// Samples of what the operating system counts for the process. The threads that call MPI take them,
// after a call that was long or a while after the last one: a thread of ours would count against
// the limits of the program's own, and could be seen by it. During a long computation or a long
// call there are no samples.
#ifndef CAIRN_WATCH_H
#define CAIRN_WATCH_H

#include <stdint.h>

// cairn_watch takes the samples that are due at the time now, in ticks of tick_ns. It does nothing
// while another thread takes some.
void cairn_watch(uint64_t now, double tick_ns);

// cairn_watch_end must be called before MPI_Finalize: a short run would only have samples of its
// beginning.
void cairn_watch_end(void);

#endif
