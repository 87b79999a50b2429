// Transfer of record buffers between the application's threads and the recorder (handover.c).
#ifndef CAIRN_HANDOVER_H
#define CAIRN_HANDOVER_H

#include <stdint.h>

#include "buffer.h"

// Initial number of fresh buffers.
enum { CAIRN_READY = 8 };

// cairn_await waits until there is work, and returns the events since the last call, oldest first.
// *fresh is the number of wanted buffers, *minimum the bytes of records that one of them must have
// room for (0: any size), *starving whether a thread waits for a buffer, *asked whether a thread
// waits for a ballot, to be answered after these events.
struct cairn_event *cairn_await(uint32_t *fresh, uint64_t *minimum, uint32_t *starving, uint32_t *asked);

// cairn_answer passes the rank's ballot to the thread that called cairn_core_ballot.
enum { CAIRN_BALLOT = 4 };
void cairn_answer(const uint64_t *ballot, int ok);

// cairn_consumed reports that the records of a full buffer are compressed; spare is the number
// of buffers that could be supplied without creating one. It returns the number of fresh
// buffers wanted now.
uint32_t cairn_consumed(uint32_t spare);

// cairn_supply adds a fresh buffer with room for capacity bytes of records.
void cairn_supply(void *buffer, uint64_t capacity);

// cairn_none_left reports that no more buffers can be supplied for now. The next request follows
// when one was taken.
void cairn_none_left(void);

// Stalls count the completed waits of the application's threads for a buffer, or for the queue
// to become shorter.
struct cairn_stalls {
	uint64_t count, total_ns, longest_ns;
};
void cairn_stalled(struct cairn_stalls *so_far);

// cairn_end makes every thread that asks or waits for a buffer get none.
void cairn_end(void);

#endif
