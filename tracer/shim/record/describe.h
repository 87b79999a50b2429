// The extras of a record: the description of a new communicator, which only MPI knows and only now.
#ifndef CAIRN_DESCRIBE_H
#define CAIRN_DESCRIBE_H

#include "../process/abi.h"
#include "record.h"

// Bytes of the description of a communicator made from communicators with this many processes.
static inline uint64_t cairn_description_bytes(int64_t processes)
{
	// 9 words, two arrays of ranks, three arrays of dimensions with more dimensions
	// than anybody uses.
	return 8 * (16 + (uint64_t)processes + 3 * 16);
}

uint64_t *cairn_describe(struct cairn_record *record, uint64_t *word, MPI_Comm comm);

// The extras of MPI_Init: a fixed size, which is enlarged if MPI_COMM_WORLD needs more.
enum { CAIRN_WORLD_BYTES = 8 * 128 };
// The extras of MPI_Session_init: rank and size in the process set of the world.
enum { CAIRN_SESSION_BYTES = 16 };
uint64_t *cairn_describe_session(struct cairn_record *record, uint64_t *word, MPI_Session session);

// cairn_forget_session must be called before a session ends, after which its world cannot be
// queried any more.
void cairn_forget_session(MPI_Session session);

uint64_t *cairn_describe_world(struct cairn_record *record, uint64_t *word);

#endif
