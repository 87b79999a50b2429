// What the operating system counts for this process: CPU time, context switches, throttling of its
// cgroup, CPU number.
#ifndef CAIRN_CONTEXT_H
#define CAIRN_CONTEXT_H

#include <stdint.h>

// cairn_context_begin creates the file and takes the first sample.
void cairn_context_begin(void);

// cairn_context_watch takes a sample if one is due, and returns the ns until the next one. Calls
// must not be concurrent.
uint64_t cairn_context_watch(void);

#endif
