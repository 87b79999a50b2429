// Memory that calls are given. Buffers of all calls are the same memory: one region for what is sent, another one for what
// is received (an MPI refuses a collective whose buffers are one). Windows, memory of MPI_Alloc_mem and buffers of
// buffered sends have memory of their own. All of it together stays below a limit.
#ifndef CAIRN_REPLAY_MEMORY_H
#define CAIRN_REPLAY_MEMORY_H

#include "mpih.h"
#include "stream.h"

enum { CR_SENT, CR_RECEIVED, CR_REGIONS };

// What a call touches of a buffer, in bytes from its address on: from lo up to, but not including, hi.
struct span {
	int64_t lo, hi;
};

void cr_limit_memory(int64_t bytes);

struct span cr_span(struct call *c, int64_t count, MPI_Datatype type);
struct span cr_join(struct span a, struct span b);
struct span cr_move(struct call *c, struct span s, int64_t bytes);
int64_t cr_extent(struct call *c, MPI_Datatype type);
int64_t cr_times(struct call *c, int64_t a, int64_t b);

// The address for a buffer of a region: MPI_IN_PLACE if the call was given that. One that was MPI_BOTTOM is moved, so that
// the addresses in its datatypes lie in the region.
void *cr_place(struct call *c, struct value recorded, int region, struct span s);

// Processes that a collective on a communicator addresses, and the most neighbors on either side.
int64_t cr_size(MPI_Comm comm);
int64_t cr_neighbors(MPI_Comm comm);

// Memory of its own for a window or a buffer; memory that MPI takes itself counts, too.
void *cr_memory(struct call *c, int64_t bytes);
void cr_count(struct call *c, int64_t bytes);
void cr_give_back(struct call *c, void *memory, int64_t bytes);

// Memory of MPI_Alloc_mem: which one is given back is not known, and any will do.
void cr_allocated(struct call *c, void *memory, int64_t bytes);
void *cr_next_allocated(struct call *c);

// The memory of a window lives as long as that.
void cr_window_made(struct call *c, int64_t id, void *memory, int64_t bytes);
void cr_window_freed(struct call *c, int64_t id);

#endif
