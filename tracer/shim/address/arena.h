// Memory that is never freed, so that readers need no lock. It is mapped piece by piece: most
// programs need little, and what is reserved counts against their limits.
#ifndef CAIRN_ARENA_H
#define CAIRN_ARENA_H

#include <stddef.h>

struct cairn_arena {
	char *at;       // in the last piece
	size_t left;    // of it
	size_t mapped;  // bytes of all pieces
};

// cairn_arena_take returns size bytes of zeros, aligned to 8; NULL if that is not possible now, or
// all pieces would have more than limit bytes. Calls must not be concurrent. It preserves errno.
void *cairn_arena_take(struct cairn_arena *a, size_t size, size_t limit);

// cairn_arena_map returns a piece of its own, of zeros that take no memory until they are written;
// NULL if that is not possible. It preserves errno.
void *cairn_arena_map(size_t size);

#endif
