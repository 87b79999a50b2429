// CPU time of the process's threads, including those that never call MPI.
#ifndef CAIRN_USAGE_H
#define CAIRN_USAGE_H

#include <stdint.h>

struct cairn_evidence_file;

// cairn_usage_begin sets the file that the list is written to.
void cairn_usage_begin(struct cairn_evidence_file *file);

// cairn_usage_calls_mpi records that a thread calls MPI, by the number of its location, from 1: it
// replaces the one that has ended there.
void cairn_usage_calls_mpi(uint32_t number, int tid);

// cairn_usage_watch writes the list if it is due, and returns the ns until the next one. Calls must
// not be concurrent.
uint64_t cairn_usage_watch(void);

// cairn_usage_end updates the list before MPI_Finalize. It must not be called concurrently with
// cairn_usage_watch.
void cairn_usage_end(void);

#endif
