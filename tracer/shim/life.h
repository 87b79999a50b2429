// What a process leaves of its end, for who finds it dead: until when it lived, its exit code, the signal that it crashed by.
#ifndef CAIRN_LIFE_H
#define CAIRN_LIFE_H

#include <stdint.h>

// cairn_life_begin makes the file; without it nothing is known of the end.
void cairn_life_begin(void);

// cairn_life_watch notes that the process lives, and returns for how many ns at most that note is good.
uint64_t cairn_life_watch(void);

// cairn_life_initialized comes when MPI_Init has returned: by then the MPI library has set its handlers.
void cairn_life_initialized(void);

#endif
