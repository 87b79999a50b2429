// What a process leaves of its end, for who finds it dead: until when it lived, its exit code, the signal that it crashed by.
#ifndef CAIRN_LIFE_H
#define CAIRN_LIFE_H

#include <stdbool.h>
#include <stdint.h>

// cairn_life_begin makes the file; without it nothing is known of the end.
void cairn_life_begin(void);

// cairn_life_watch notes that the process lives, and returns for how many ns at most that note is good.
uint64_t cairn_life_watch(void);

// cairn_life_lost counts calls that no segment has; false where that cannot be noted. cairn_life_counts reports whether it
// can: then calls go through the wrappers also when tracing has stopped.
bool cairn_life_lost(uint64_t calls);
bool cairn_life_counts(void);

// cairn_life_finalized notes that MPI_Finalize was called when tracing had stopped: the process did not end before it.
void cairn_life_finalized(void);

// cairn_life_in_child comes after fork: what a child does is not the process's.
void cairn_life_in_child(void);

// cairn_life_initialized comes when MPI_Init has returned: by then the MPI library has set its handlers.
void cairn_life_initialized(void);

#endif
