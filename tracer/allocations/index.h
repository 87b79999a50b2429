// The live blocks of the process by address.
#ifndef CAIRN_INDEX_H
#define CAIRN_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As trace.AllocationKind.
enum cairn_kind {
	CAIRN_HEAP = 1,
	CAIRN_MAPPED,
	CAIRN_STATIC,
	CAIRN_STACK,
	CAIRN_DEVICE,
	CAIRN_MANAGED,
	CAIRN_PINNED,
	CAIRN_UNKNOWN,
};

struct cairn_block {
	uintptr_t start, size, site;
	uint32_t kind, device;
	bool named; // an MPI call has used it
};

// cairn_index_add adds a block of host memory; cairn_index_remove removes it, and reports whether
// it existed. Both are safe in signal handlers and take no lock. They rely on the allocator not to
// return and free one address concurrently.
void cairn_index_add(const struct cairn_block *block);
bool cairn_index_remove(uintptr_t start, struct cairn_block *removed);

// cairn_index_find finds the block around an address. cairn_index_name marks it as
// used by an MPI call.
bool cairn_index_find(uintptr_t address, struct cairn_block *block);
void cairn_index_name(const struct cairn_block *block);

#endif
