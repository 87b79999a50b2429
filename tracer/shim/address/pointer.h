// Pointers as words of records. Buffers: with libcairn-allocations.so allocation and offset
// (docs/decisions/0034-pointers.md).
#ifndef CAIRN_POINTER_H
#define CAIRN_POINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "../process/state.h"
#include "../process/untagged.h"

extern CAIRN_HIDDEN bool cairn_pointers; // record them

void cairn_pointers_begin(void);
uint64_t cairn_find_pointer(uint64_t address);

// cairn_function is for a function that the program passes to MPI: its module, which may be new and
// may never call MPI, is in process.json or in the dictionary from now on.
uint64_t cairn_function(uint64_t address);

static inline uint64_t cairn_pointer(uint64_t address)
{
	address = cairn_untagged(address);
	return CAIRN_UNLIKELY(cairn_pointers) ? cairn_find_pointer(address) : address;
}

#endif
