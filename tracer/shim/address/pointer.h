// Addresses as words of records: with libcairn-allocations.so, where they lead (docs/decisions/0034-pointers.md).
#ifndef CAIRN_PLACE_H
#define CAIRN_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "../process/state.h"

extern CAIRN_HIDDEN bool cairn_places; // are they recorded?

void cairn_places_begin(void);
uint64_t cairn_find_place(uint64_t address);

static inline uint64_t cairn_place(uint64_t address)
{
	return CAIRN_UNLIKELY(cairn_places) ? cairn_find_place(address) : address;
}

#endif
