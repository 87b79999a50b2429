#include "arena.h"

#include <errno.h>

#include "../process/memory.h"

enum { PIECE = 128 << 10 };

void *cairn_arena_map(size_t size)
{
	const int saved = errno;
	void *memory = cairn_map(size, PROT_READ | PROT_WRITE, -1);

	errno = saved;
	return memory;
}

void *cairn_arena_take(struct cairn_arena *a, size_t size, size_t limit)
{
	char *taken;

	size = (size + 7) & ~(size_t)7;
	if (size > a->left) {
		const size_t piece = size > PIECE ? size : PIECE;
		char *memory = a->mapped + piece <= limit ? cairn_arena_map(piece) : NULL;
		if (memory == NULL)
			return NULL;
		*a = (struct cairn_arena){memory, piece, a->mapped + piece};
	}
	taken = a->at;
	a->at += size;
	a->left -= size;
	return taken;
}
