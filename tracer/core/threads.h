// The threads of the Go runtime (threads.c).
#ifndef CAIRN_THREADS_H
#define CAIRN_THREADS_H

// cairn_threads_unbind lets the runtime's threads run on all CPUs, once it has started.
void cairn_threads_unbind(void);

#endif
