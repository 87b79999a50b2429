// CPU time of the process's threads, including those that never call MPI.
#ifndef CAIRN_USAGE_H
#define CAIRN_USAGE_H

#include <stdint.h>

struct cairn_evidence_file;

// cairn_usage_begin sets the file that the list is written to.
void cairn_usage_begin(struct cairn_evidence_file *file);

// cairn_usage_calls_mpi records that a thread calls MPI.
void cairn_usage_calls_mpi(int tid);

// cairn_usage_is_tool records that a thread is the tracer's; threads that it starts are
// found by their name.
void cairn_usage_is_tool(int tid);

// cairn_usage_watch writes the list if it is due, and returns the ns until the next one.
uint64_t cairn_usage_watch(void);

// cairn_usage_end must be called before MPI_Finalize; it updates the list.
void cairn_usage_end(void);

// cairn_usage_tools returns the CPU time in ns of the tracer's own threads, as far as
// they are listed.
int64_t cairn_usage_tools(void);

#endif
