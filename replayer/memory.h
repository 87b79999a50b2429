// Memory for calls. Buffers of all calls share the same memory: one region for sending, another one
// for receiving (an MPI refuses a collective whose buffers overlap). Windows, memory of
// MPI_Alloc_mem and buffers of buffered sends have separate memory. The total stays below a limit.
#ifndef CAIRN_REPLAY_MEMORY_H
#define CAIRN_REPLAY_MEMORY_H

#include "mpih.h"
#include "stream.h"

enum { CR_SENT, CR_RECEIVED, CR_REGIONS };

// The bytes of a buffer that a call accesses, relative to its address: [lo, hi).
struct span {
	int64_t lo, hi;
};

void cr_limit_memory(int64_t bytes);

struct span cr_span(struct call *c, int64_t count, MPI_Datatype type);
struct span cr_join(struct span a, struct span b);
struct span cr_move(struct call *c, struct span s, int64_t bytes);
int64_t cr_extent(struct call *c, MPI_Datatype type);
int64_t cr_times(struct call *c, int64_t a, int64_t b);

// The address for a buffer of a region, or MPI_IN_PLACE if the call was given that. A buffer at
// MPI_BOTTOM is moved, so that the addresses in its datatypes are in the region.
void *cr_place(struct call *c, struct value recorded, int region, struct span s);

// The number of processes that a collective on a communicator addresses; the maximum number of
// neighbors on either side.
int64_t cr_size(MPI_Comm comm);
int64_t cr_neighbors(MPI_Comm comm);

// Separate memory for a window or a buffer; memory that MPI itself allocates counts, too.
void *cr_memory(struct call *c, int64_t bytes);
void cr_count(struct call *c, int64_t bytes);
void cr_give_back(struct call *c, void *memory, int64_t bytes);

// Memory of MPI_Alloc_mem: which one is freed is unknown, and any will do.
void cr_allocated(struct call *c, void *memory, int64_t bytes);
void *cr_next_allocated(struct call *c);

// The memory of a window lives as long as the window.
void cr_window_made(struct call *c, int64_t id, void *memory, int64_t bytes);
void cr_window_freed(struct call *c, int64_t id);

#endif
