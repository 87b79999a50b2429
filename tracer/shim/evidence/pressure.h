// What the kernel counts for the cgroup of the process, in a container that of the container: the
// time for which processes waited for memory or for disks (PSI), and how often its memory limit was
// reached. And what it counts for the TCP connections of the process.
#ifndef CAIRN_PRESSURE_H
#define CAIRN_PRESSURE_H

#include <stdint.h>

// cairn_pressure_begin finds the counters. Counting begins here.
void cairn_pressure_begin(void);

// cairn_pressure_watch reads the counters if a reading is due, and returns the ns until the next
// one. cairn_pressure_end reads them at the end. Calls must not be concurrent.
uint64_t cairn_pressure_watch(void);
void cairn_pressure_end(void);

#endif
