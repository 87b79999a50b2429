// What the compressor answers: a part of the process's file of observations that the compressor
// writes (struct cairn_compressor, and what follows it). It is mapped from MPI_Init on: later the
// process may have lost the descriptors, or the right to open a file.
#ifndef CAIRN_ANSWER_H
#define CAIRN_ANSWER_H

#include <stdbool.h>

#include "../../ring/ring.h"

struct cairn_answer {
	struct cairn_compressor header;
	uint64_t released[CAIRN_RING]; // by slot: number of its last use that is in a checkpoint
};

// cairn_answer_begin finds the part.
void cairn_answer_begin(void);

// cairn_answer_read copies the answer. It returns false if there is none so far.
bool cairn_answer_read(struct cairn_answer *to);

#endif
