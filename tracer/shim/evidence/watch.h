// The tracer's one thread: it samples what the operating system counts for the process.
#ifndef CAIRN_WATCH_H
#define CAIRN_WATCH_H

// cairn_watch_begin starts the thread, unless it runs. It must be called when MPI_Init has returned:
// under a limit of threads the MPI library needs those that there are. Where no thread can be
// started there are no samples.
void cairn_watch_begin(void);

#endif
