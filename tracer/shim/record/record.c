#include "record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../address/modules.h"
#include "../address/python.h"
#include "../bind/reference.h"
#include "../evidence/life.h"
#include "../process/config.h"
#include "core.h"

_Atomic uint64_t cairn_epoch = 2;

// Calls before MPI_Init go here if they are made by the first thread that makes one (C++
// constructors call MPI_Initialized). More calls, or other threads', go to mapped memory, which
// is allocated on use: a program may list all variables of the tool interface before it
// initializes MPI.
enum { EARLY = 65536, MAX_EARLY = 4 << 20 };
static _Alignas(8) char early[CAIRN_BUFFER_HEADER + EARLY];
static _Atomic int early_taken;

static void use_buffer(struct cairn_thread *t, struct cairn_buffer *buffer, uint64_t capacity)
{
	t->buffer = buffer;
	t->early = false;
	t->generation++;
	t->cursor = (char *)buffer + CAIRN_BUFFER_HEADER;
	t->hard = t->cursor + capacity;
	t->soft = t->hard - CAIRN_NESTED_RESERVE;
}

// use_early_buffer gives the thread a buffer from before MPI_Init. Its limits are set as if there
// were no room, so that every call comes to cairn_open_slowly, which notices that MPI was
// initialized, on whichever thread.
static void use_early_buffer(struct cairn_thread *t, void *buffer, uint64_t capacity)
{
	use_buffer(t, buffer, capacity);
	t->soft = t->cursor;
	t->early = true;
}

// early_room finds room for a record before MPI_Init.
static bool early_room(struct cairn_thread *t, uint64_t size)
{
	const uint64_t needed = size + CAIRN_NESTED_RESERVE;

	if (t->buffer == NULL && atomic_exchange(&early_taken, 1) == 0)
		use_early_buffer(t, early, EARLY);
	if (t->buffer != NULL && (uint64_t)(t->hard - t->cursor) >= needed)
		return true;
	uint64_t kept = t->buffer != NULL ? t->buffer->used : 0;
	if ((t->buffer != NULL && (char *)t->buffer != early) || kept + needed > MAX_EARLY)
		return false;
	const int saved = errno;
	char *buffer = mmap(NULL, CAIRN_BUFFER_HEADER + MAX_EARLY, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	errno = saved;
	if (buffer == MAP_FAILED)
		return false;
	if (t->buffer != NULL)
		memcpy(buffer, t->buffer, CAIRN_BUFFER_HEADER + kept);
	use_early_buffer(t, buffer, MAX_EARLY);
	t->cursor += kept;
	return true;
}

uint64_t cairn_other_module(uint64_t caller)
{
	struct cairn_thread *t = &cairn_self;

	// Earlier the list of modules is not written yet. Without call sites nobody needs it.
	if (atomic_load_explicit(&cairn_state, memory_order_acquire) != CAIRN_ON)
		return caller;
	if (!cairn_config.call_sites) {
		t->code_begin = 0;
		t->code_size = UINTPTR_MAX;
		return caller;
	}
	if ((uintptr_t)caller - t->python_begin < t->python_size)
		return cairn_python_line(caller);
	if (cairn_modules_use((uintptr_t)caller))
		cairn_python_look();
	if (atomic_load_explicit(&cairn_python_loaded, memory_order_relaxed)) {
		// Every call comes here from now on: whatever module makes it, Python may be below.
		t->code_begin = t->code_size = 0;
		if (!cairn_modules_know((uintptr_t)caller, &t->python_begin, &t->python_size)) {
			t->python_begin = (uintptr_t)caller;
			t->python_size = 1;
		}
		return cairn_python_line(caller);
	}
	if (!cairn_modules_know((uintptr_t)caller, &t->code_begin, &t->code_size)) {
		t->code_begin = (uintptr_t)caller; // code of no module (generated at run time)
		t->code_size = 1;
	}
	return caller;
}

// read_clocks samples TSC, MONOTONIC and REALTIME together and keeps the fastest of several tries:
// a preemption between two reads would shift every time stamp of the rank.
static void read_clocks(struct cairn_buffer *s)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CAIRN_CLOCK_READINGS; i++) {
		uint64_t ticks = cairn_now(), monotonic_ns = cairn_clock_ns(CLOCK_MONOTONIC);
		uint64_t realtime_ns = cairn_clock_ns(CLOCK_REALTIME), took = cairn_now() - ticks;
		if (took < least) {
			least = took;
			s->ticks = ticks;
			s->monotonic_ns = monotonic_ns;
			s->realtime_ns = realtime_ns;
		}
	}
}

// next_buffer hands the thread's full buffer to the core and continues in a fresh one.
static bool next_buffer(struct cairn_thread *t, uint64_t size)
{
	struct cairn_buffer *full = t->buffer, *fresh;
	uint64_t kept = 0, capacity = 0;
	bool was_early = t->early;

	if (was_early)
		kept = full->used;
	// A module that was loaded at the address of an unloaded one is only noticed here.
	if (cairn_config.call_sites && atomic_load_explicit(&cairn_state, memory_order_relaxed) == CAIRN_ON)
		cairn_modules_refresh();
	fresh = cairn_core_next_buffer(cairn_thread_number() - 1, was_early ? NULL : full, kept + size + CAIRN_NESTED_RESERVE, &capacity);
	if (fresh == NULL) {
		if (cairn_life_lost(t->dropped + (was_early ? full->dropped : 0)))
			t->dropped = 0;
		cairn_thread_forget(t);
		cairn_stop(NULL); // the reason was printed already
		return false;
	}
	read_clocks(fresh);
	fresh->dropped += t->dropped + (was_early ? full->dropped : 0);
	t->dropped = 0;
	use_buffer(t, fresh, capacity);
	if (kept != 0) {
		memcpy(t->cursor, (char *)full + CAIRN_BUFFER_HEADER, kept);
		t->cursor += kept;
		atomic_store_explicit(&fresh->used, kept, memory_order_release);
	}
	if (was_early && (char *)full != early)
		munmap(full, CAIRN_BUFFER_HEADER + MAX_EARLY);
	return t->soft - t->cursor >= (int64_t)size;
}

void cairn_count_dropped(uint64_t calls)
{
	struct cairn_thread *t = &cairn_self;
	if (t->buffer != NULL)
		t->buffer->dropped += calls;
	else if (!cairn_life_lost(calls))
		t->dropped += calls;
}

bool cairn_open_slowly(struct cairn_record *record, unsigned function, uint64_t size)
{
	struct cairn_thread *t = &cairn_self;
	int state = atomic_load_explicit(&cairn_state, memory_order_acquire);
	bool room;

	if (state == CAIRN_OFF) {
		// No later, smaller record may go where this one had no room: MPI_Finalize would make the
		// trace look whole.
		t->soft = (char *)t->buffer;
		cairn_life_lost(1);
		if (function == CAIRN_ID_MPI_Finalize || function == CAIRN_ID_MPI_Session_finalize)
			cairn_life_finalized();
		return false;
	}
	if (t->busy) {
		// From a signal handler that interrupted us.
		cairn_count_dropped(1);
		return false;
	}
	cairn_busy(t, 1);
	// Records of calls that were left by longjmp or a C++ exception have frames below
	// ours on the stack.
	while (t->depth > 0 && t->frame[t->depth - 1] <= (const void *)record)
		t->depth--;
	if (t->depth > 0)
		room = t->depth < CAIRN_DEPTH && t->hard - t->cursor >= (int64_t)size;
	else if (t->soft - t->cursor >= (int64_t)size && t->buffer != NULL)
		room = true;
	else if (size > UINT32_MAX)
		room = false; // a record cannot be that long
	else if (state == CAIRN_ON)
		room = next_buffer(t, size);
	else
		room = early_room(t, size);
	if (!room) {
		cairn_count_dropped(1);
		cairn_busy(t, 0);
		return false;
	}
	record->header = (struct cairn_record_header *)t->cursor;
	record->generation = t->generation;
	record->depth = t->depth;
	t->frame[t->depth] = record;
	return true;
}

void cairn_reference_stamps(const struct cairn_record *record)
{
	// The record is in a buffer that this thread has not handed over, or its
	// generation would differ.
	const bool there = record != NULL && record->generation == cairn_self.generation;

	cairn_reference->stamps(there ? record->header->enter : 0, there ? record->header->exit : 0);
}
