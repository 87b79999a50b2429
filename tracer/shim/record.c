#include "record.h"

#include "config.h"
#include "core.h"
#include "modules.h"

__thread struct cairn_thread cairn_self;
_Atomic uint64_t cairn_epoch = 2;

static _Atomic uint32_t threads;

// Calls before MPI_Init go here, of the first thread that makes one (C++ constructors call MPI_Initialized).
static _Alignas(8) char early[CAIRN_SEGMENT_HEADER + 65536];
static _Atomic int early_taken;
static struct cairn_thread *early_owner;

static void use_buffer(struct cairn_thread *t, struct cairn_segment *segment, uint64_t capacity)
{
	t->segment = segment;
	t->generation++;
	t->cursor = (char *)segment + CAIRN_SEGMENT_HEADER;
	t->hard = t->cursor + capacity;
	t->soft = t->hard - CAIRN_NESTED_RESERVE;
}

void cairn_thread_forget(struct cairn_thread *t)
{
	t->segment = NULL;
	t->generation++;
	t->depth = 0;
	t->cursor = t->soft = t->hard = NULL;
}

static bool use_early_buffer(struct cairn_thread *t)
{
	if (t->segment != NULL || atomic_exchange(&early_taken, 1) != 0)
		return false;
	early_owner = t;
	use_buffer(t, (struct cairn_segment *)early, sizeof(early) - CAIRN_SEGMENT_HEADER);
	return true;
}

void cairn_leave_early_buffer(void)
{
	// Without room the owner's next call comes to cairn_open_slowly. It is this thread, but for programs that call MPI on
	// another one before MPI_Init.
	if (early_owner != NULL)
		early_owner->soft = (char *)early;
}

uint32_t cairn_thread_number(void)
{
	struct cairn_thread *t = &cairn_self;
	if (t->number == 0)
		t->number = atomic_fetch_add(&threads, 1) + 1;
	return t->number;
}

void cairn_other_module(uint64_t caller)
{
	struct cairn_thread *t = &cairn_self;

	// Before that the modules that are there have not been written down; without call sites nobody asks for them.
	if (atomic_load_explicit(&cairn_state, memory_order_acquire) != CAIRN_ON)
		return;
	if (cairn_config.call_sites)
		cairn_modules_use((uintptr_t)caller);
	if (!cairn_config.call_sites || !cairn_modules_know((uintptr_t)caller, &t->code_begin, &t->code_size)) {
		t->code_begin = cairn_config.call_sites ? (uintptr_t)caller : 0; // code that no module has (made at run time)
		t->code_size = cairn_config.call_sites ? 1 : UINTPTR_MAX;
	}
}

// next_segment hands the thread's full segment to the core and goes on in a fresh one.
static bool next_segment(struct cairn_thread *t, uint64_t size)
{
	struct cairn_segment *full = t->segment, *fresh;
	uint64_t kept = 0, capacity = 0;
	bool was_early = full == (struct cairn_segment *)early;

	if (was_early)
		kept = full->used;
	// What was loaded in the place of something else is not noticed otherwise.
	if (cairn_config.call_sites && atomic_load_explicit(&cairn_state, memory_order_relaxed) == CAIRN_ON)
		cairn_modules_refresh();
	fresh = cairn_core_segment(cairn_thread_number() - 1, was_early ? NULL : full, kept + size + CAIRN_NESTED_RESERVE, &capacity);
	if (fresh == NULL) {
		cairn_thread_forget(t);
		cairn_stop(NULL); // the core has said why
		return false;
	}
	fresh->ticks = cairn_now();
	fresh->monotonic_ns = cairn_clock_ns(CLOCK_MONOTONIC);
	fresh->realtime_ns = cairn_clock_ns(CLOCK_REALTIME);
	fresh->dropped += t->dropped + (was_early ? full->dropped : 0);
	t->dropped = 0;
	use_buffer(t, fresh, capacity);
	if (kept != 0) {
		memcpy(t->cursor, (char *)full + CAIRN_SEGMENT_HEADER, kept);
		t->cursor += kept;
		atomic_store_explicit(&fresh->used, kept, memory_order_release);
	}
	return t->soft - t->cursor >= (int64_t)size;
}

void cairn_count_dropped(uint64_t calls)
{
	struct cairn_thread *t = &cairn_self;
	if (t->segment != NULL)
		t->segment->dropped += calls;
	else
		t->dropped += calls;
}

bool cairn_open_slowly(struct cairn_record *record, uint64_t size)
{
	struct cairn_thread *t = &cairn_self;
	int state = atomic_load_explicit(&cairn_state, memory_order_acquire);
	bool room;

	if (state == CAIRN_OFF)
		return false;
	if (t->busy) {
		// From a signal handler that interrupted us.
		cairn_count_dropped(1);
		return false;
	}
	cairn_busy(t, 1);
	// Records of calls that were left by longjmp or a C++ exception are below us on the stack.
	while (t->depth > 0 && t->frame[t->depth - 1] <= (const void *)record)
		t->depth--;
	if (t->depth > 0)
		room = t->depth < CAIRN_DEPTH && t->hard - t->cursor >= (int64_t)size;
	else if (t->soft - t->cursor >= (int64_t)size && t->segment != NULL)
		room = true;
	else if (size > UINT32_MAX)
		room = false; // the format has no such record
	else if (state == CAIRN_ON)
		room = next_segment(t, size);
	else
		room = use_early_buffer(t) && t->soft - t->cursor >= (int64_t)size;
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
