#include "thread.h"

#include <stddef.h>

__thread struct cairn_thread cairn_self;

static _Atomic uint32_t threads;

uint32_t cairn_thread_number(void)
{
	struct cairn_thread *t = &cairn_self;
	if (t->number == 0)
		t->number = atomic_fetch_add(&threads, 1) + 1;
	return t->number;
}

uint32_t cairn_thread_count(void)
{
	return atomic_load_explicit(&threads, memory_order_relaxed);
}

void cairn_thread_forget(struct cairn_thread *t)
{
	t->buffer = NULL;
	t->early = false;
	t->generation++;
	t->depth = 0;
	t->next = t->last = NULL;
	t->sums = false;
	t->cursor = t->soft = t->hard = NULL;
}
