// How full segments come to the recorder and fresh ones to the application's threads (handover.c).
#ifndef CAIRN_HANDOVER_H
#define CAIRN_HANDOVER_H

#include <stdint.h>

#include "segment.h"

// How many fresh segments there are at first.
enum { CAIRN_READY = 8 };

// cairn_await waits until there is something to do, and returns the events since the last time, oldest first. *fresh is how
// many segments are wanted, *minimum how many bytes of records one of them needs room for (0: any will do), *starving
// whether a thread waits for one, *asked whether one waits for a ballot: when these events are worked off.
struct cairn_event *cairn_await(uint32_t *fresh, uint64_t *minimum, uint32_t *starving, uint32_t *asked);

// A ballot is what the rank says at a marker; cairn_answer tells it to the thread that asked with cairn_core_ballot.
enum { CAIRN_BALLOT = 4 };
void cairn_answer(const uint64_t *ballot, int ok);

// cairn_worked_off tells that the records of a full segment are compressed, and how many segments could be supplied without
// making one. It returns how many fresh ones are wanted by now.
uint32_t cairn_worked_off(uint32_t spare);

// cairn_supply gives a segment with room for capacity bytes of records to whoever asks next.
void cairn_supply(void *segment, uint64_t capacity);

// cairn_none_left tells that there are no more segments for now. It is asked again when one was taken.
void cairn_none_left(void);

// Stalls are the times that threads of the application waited for a segment, or for what is queued to become less. One that
// goes on does not count yet.
struct cairn_stalls {
	uint64_t count, total_ns, longest_ns;
};
void cairn_stalled(struct cairn_stalls *so_far);

// cairn_end makes every thread that asks or waits for a segment get none.
void cairn_end(void);

#endif
