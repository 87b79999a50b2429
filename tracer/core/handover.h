// How full segments come to the recorder and fresh ones to the application's threads (handover.c).
#ifndef CAIRN_HANDOVER_H
#define CAIRN_HANDOVER_H

#include <stdint.h>

struct cairn_event {
	struct cairn_event *next;
	void *segment;
	uint32_t thread;
	uint32_t full; // else it was given
};

// cairn_await waits until there is something to do, and returns the events since the last time, oldest first. *fresh is
// how many segments are wanted, *minimum how many bytes of records one of them needs room for (0: any will do),
// *starving whether a thread waits for one.
struct cairn_event *cairn_await(uint32_t *fresh, uint64_t *minimum, uint32_t *starving);

// cairn_worked_off tells that the records of n full segments are compressed.
void cairn_worked_off(uint32_t n);

// cairn_supply gives a segment with room for capacity bytes of records to whoever asks next.
void cairn_supply(void *segment, uint64_t capacity);

// cairn_none_left tells that there are no more segments for now. It is asked again when one was taken.
void cairn_none_left(void);

// cairn_end makes every thread that asks or waits for a segment get none.
void cairn_end(void);

#endif
