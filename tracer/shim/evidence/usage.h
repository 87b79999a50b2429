// What the threads of the process have used, those that never call MPI among them.
#ifndef CAIRN_USAGE_H
#define CAIRN_USAGE_H

#include <stdint.h>

struct cairn_evidence_file;

// cairn_usage_begin says where that is written to.
void cairn_usage_begin(struct cairn_evidence_file *file);

// cairn_usage_calls_mpi says that a thread calls MPI.
void cairn_usage_calls_mpi(int tid);

// cairn_usage_is_tool says that a thread is the tracer's; those that it starts are found by their name.
void cairn_usage_is_tool(int tid);

// cairn_usage_watch writes what the threads of the process have used, if that is due, and returns for how many ns it will
// not be.
uint64_t cairn_usage_watch(void);

// cairn_usage_end is called before MPI_Finalize: what was used since the last list is added.
void cairn_usage_end(void);

// cairn_usage_tools is the CPU time of those of the tracer's own threads that count, in ns.
int64_t cairn_usage_tools(void);

#endif
