#include "thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"

__thread struct cairn_thread cairn_self;

// Locations are in tables, each twice as long as the one before.
enum { SHORTEST = 64, TABLES = 20 };
static struct cairn_location first[SHORTEST];
static _Atomic(struct cairn_location *) tables[TABLES] = {first};
static _Atomic uint32_t locations;

// Locations are looked at in turn, a few at each first call of a thread. Where there are few, each
// thread has its own: which of them ends first is a race, and rows that two threads share by chance
// differ from run to run.
enum { TRIES = 16, FEW = 32 };
static _Atomic uint32_t turn;

// location_at returns the location with a number; NULL if there is no memory for it.
static struct cairn_location *location_at(uint32_t number)
{
	uint32_t table = 0, at = number, size = SHORTEST;

	for (; at >= size; at -= size, size *= 2)
		table++;
	if (table >= TABLES)
		return NULL;
	struct cairn_location *l = atomic_load_explicit(&tables[table], memory_order_acquire);
	if (l == NULL) {
		const size_t bytes = size * sizeof(*l);
		struct cairn_location *made = cairn_map(bytes, PROT_READ | PROT_WRITE, -1);
		if (made == NULL)
			return NULL;
		if (atomic_compare_exchange_strong(&tables[table], &l, made))
			l = made;
		else
			cairn_unmap(made, bytes); // another thread was faster
	}
	return l + at;
}

// has_ended reports whether the kernel does not know the thread any more. A new thread may have its
// tid: the caller, which has no location yet, or one with a location of its own.
static bool has_ended(pid_t tid, pid_t self)
{
	return tid == self || (syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH);
}

// of_ended takes over a location whose thread has ended; NULL: none was found.
static struct cairn_location *of_ended(pid_t self)
{
	const uint32_t count = atomic_load(&locations);

	for (uint32_t i = 0; count >= FEW && i < TRIES; i++) {
		struct cairn_location *l = location_at(atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % count);
		uint64_t owner = l != NULL ? atomic_load_explicit(&l->owner, memory_order_acquire) : 0;
		const uint64_t mine = ((owner >> 32) + 1) << 32 | (uint32_t)self;
		if (owner != 0 && has_ended((pid_t)(uint32_t)owner, self) && atomic_compare_exchange_strong(&l->owner, &owner, mine))
			return l;
	}
	return NULL;
}

uint32_t cairn_thread_number(void)
{
	struct cairn_thread *t = &cairn_self;

	if (t->number != 0)
		return t->number;
	const int saved = errno;
	const pid_t self = (pid_t)syscall(SYS_gettid);
	// a thread that has a buffer already, from before MPI_Init, could not go on in another's
	struct cairn_location *l = t->buffer == NULL ? of_ended(self) : NULL;
	if (l != NULL) {
		t->number = l->number + 1;
	} else {
		t->number = atomic_fetch_add(&locations, 1) + 1;
		if ((l = location_at(t->number - 1)) != NULL) {
			l->number = t->number - 1;
			atomic_store_explicit(&l->owner, (uint32_t)self, memory_order_release);
		}
	}
	t->location = l;
	errno = saved;
	return t->number;
}

uint32_t cairn_thread_count(void)
{
	return atomic_load_explicit(&locations, memory_order_relaxed);
}

void cairn_thread_forget(struct cairn_thread *t)
{
	if (t->location != NULL)
		t->location->buffer = NULL;
	t->buffer = NULL;
	t->early = false;
	t->depth = 0;
	memset(t->frame, 0, sizeof(t->frame)); // whoever returns finds that its record is not there any more
	t->next = t->last = NULL;
	t->sums = false;
	t->cursor = t->soft = t->hard = NULL;
}
