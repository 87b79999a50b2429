// What a process leaves about its end: the time until which it was alive, its exit code, the
// signal of a crash.
#ifndef CAIRN_LIFE_H
#define CAIRN_LIFE_H

#include <stdbool.h>
#include <stdint.h>

// cairn_life_called must be called at the first call of MPI: a process that ends without MPI_Init
// leaves a sign in the spool.
void cairn_life_called(void);

// cairn_life_begin creates the file; without it nothing is known of the end.
void cairn_life_begin(void);

// cairn_life_alive records that the process is alive now, in ticks.
void cairn_life_alive(uint64_t now);

// cairn_life_lost counts calls that are in no buffer; false if it cannot. cairn_life_counts reports
// whether it can: then calls go through the wrappers even after tracing has stopped.
bool cairn_life_lost(uint64_t calls);
bool cairn_life_counts(void);

// cairn_life_finalized records that MPI_Finalize was called after tracing had stopped, so that the
// process did not end early.
void cairn_life_finalized(void);

// cairn_life_in_child must be called in a child after fork: its calls must not be counted.
void cairn_life_in_child(void);

// cairn_life_initialized must be called when MPI_Init has returned, after the MPI library has
// set its handlers.
void cairn_life_initialized(void);

#endif
