// The tracer's one thread: it samples what the operating system counts for the process.
#ifndef CAIRN_WATCH_H
#define CAIRN_WATCH_H

// cairn_watch_begin starts the thread. Where that is not possible there are no samples.
void cairn_watch_begin(void);

#endif
