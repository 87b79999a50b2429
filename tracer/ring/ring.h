// What a traced process and the compressor outside of it share beside the record buffers
// (docs/decisions/0108-compressor.md). Each side only reads what the other one writes. Every word
// has one writing process, and numbers only grow. Nobody waits for the other side with a lock.
#ifndef CAIRN_RING_H
#define CAIRN_RING_H

#include <stdatomic.h>
#include <stdint.h>

#include "layout_gen.h"

// Written by the process, in its file of observations.
struct cairn_ring {
	char magic[8];
	_Atomic uint64_t filled;       // bytes of buffers that were filled so far
	_Atomic uint64_t cuts;         // ballots that were requested so far
	_Atomic uint64_t once;         // bytes of the buffers so far that are not used again, and of copies
	_Atomic uint64_t switches;     // how often a thread changed its buffer
	_Atomic uint64_t switching_ns; // how long that took in sum, and at most
	_Atomic uint64_t longest_ns;
};
CAIRN_LAYOUT_RING(struct cairn_ring);

// Written by the compressor, to the process's file of observations. Behind it is a
// word for each slot of the ring: the number of its last use (taken in its header) whose records are
// in a checkpoint. Then the process may use it again.
struct cairn_compressor {
	char magic[8];
	uint64_t bytes;   // of the compressor's files for this process
	uint64_t removed; // bytes of buffers that the compressor has removed so far
	uint64_t cut;     // number of the cut, from 1, that the ballot is about; written after it
	uint64_t signature, unchanged, period, calls;
	char stopped[CAIRN_STOPPED_BYTES]; // why the compressor has stopped; "": it has not
};
CAIRN_LAYOUT_COMPRESSOR(struct cairn_compressor);

// The doorbell is a file of the spool, which the compressor creates. Its first word is a futex that
// never changes: a wake-up can be missed if the compressor is about to sleep, so it sleeps for
// CAIRN_PERIOD_NS at most. Processes map the file read-only.
enum {
	CAIRN_DOORBELL_BYTES = 4096,
	CAIRN_PERIOD_NS = 100000000,
};

// cairn_ring_wake wakes the compressor.
void cairn_ring_wake(const void *doorbell);

// cairn_ring_await waits until a process wakes the compressor, at most for CAIRN_PERIOD_NS.
void cairn_ring_await(const void *doorbell);

#endif
