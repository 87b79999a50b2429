#include "left.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../address/unwind.h"

static bool is_short(const void *record)
{
	return (((const struct cairn_record_header *)record)->first & CAIRN_SHORT) != 0;
}

static const struct cairn_record_header *original_of(const struct cairn_buffer *b, uint64_t first)
{
	return (const void *)((const uint64_t *)(const void *)b + (first >> CAIRN_SHORT_ORIGINAL_SHIFT & (CAIRN_SHORT_MAX_ORIGINAL - 1)));
}

static bool is_open(const void *record)
{
	const struct cairn_record_header *h = record;

	if (is_short(record))
		return (h->first >> CAIRN_SHORT_STATE_SHIFT & 3) == CAIRN_SHORT_OPEN;
	return (atomic_load_explicit(&h->state, memory_order_relaxed) & CAIRN_COMMITTED) == 0;
}

static uint64_t reserved_for(const void *record)
{
	const struct cairn_record_header *h = record;

	return is_short(record) ? h->first >> CAIRN_SHORT_DURATION_SHIFT : h->reserved;
}

// enter_of returns when an open call was entered; 0: its clock was not read yet.
static uint64_t enter_of(const struct cairn_buffer *b, const void *record)
{
	const struct cairn_short_record *s = record;
	const uint64_t ticks = s->second & (CAIRN_SHORT_MAX_ENTER - 1);

	if (!is_short(record))
		return ((const struct cairn_record_header *)record)->enter;
	return ticks != 0 ? b->ticks + ticks : 0;
}

// was_seen reports whether an unwinder was seen to leave an open call.
static bool was_seen(const struct cairn_buffer *b, uint64_t enter)
{
	return atomic_load_explicit(&b->unwound, memory_order_relaxed) > enter && enter >= b->unwound_from;
}

// end_of returns when a call was left: when that was seen, or at the latest at this time.
static uint64_t end_of(const struct cairn_buffer *b, uint64_t enter, uint64_t at)
{
	const uint64_t unwound = atomic_load_explicit(&b->unwound, memory_order_relaxed);

	if (was_seen(b, enter) && unwound < at)
		return unwound;
	return at > enter ? at : enter;
}

// end_record commits an open record without results.
static void end_record(const struct cairn_buffer *b, void *record, uint64_t at)
{
	const uint64_t left = (uint64_t)CAIRN_LEFT << 56;
	struct cairn_record_header *h = record;
	uint64_t enter = enter_of(b, record);
	const uint64_t end = end_of(b, enter, at);

	if (enter == 0)
		enter = end;
	if (!is_short(record)) {
		h->enter = enter;
		h->exit = end;
		h->first |= left;
		atomic_store_explicit(&h->state, CAIRN_COMMITTED, memory_order_release);
		return;
	}
	struct cairn_short_record *s = record;
	const uint64_t first = atomic_load_explicit(&s->first, memory_order_relaxed);
	uint64_t *w = (uint64_t *)(s + 1);
	*w++ = (original_of(b, first)->first & CAIRN_FUNCTION_AND_BINDING) | CAIRN_HEADER | left;
	*w++ = b->epoch + (s->second >> CAIRN_SHORT_ENTER_BITS);
	*w++ = enter;
	*w++ = end;
	*w = 0;
	atomic_store_explicit(&s->first, first | (uint64_t)CAIRN_SHORT_EXPLICIT << CAIRN_SHORT_STATE_SHIFT, memory_order_release);
}

char *cairn_leave(struct cairn_buffer *b, unsigned depth, uint64_t at)
{
	char *records = (char *)b + CAIRN_BUFFER_HEADER;
	const uint64_t used = atomic_load_explicit(&b->used, memory_order_relaxed);
	uint64_t end = used;

	// What was opened before the last call that is less deep means nothing any more.
	for (unsigned i = 0; i < CAIRN_DEPTH && b->opened[i] > (i > 0 ? b->opened[i - 1] : 0) && b->opened[i] <= used; i++) {
		const uint64_t begin = b->opened[i] - sizeof(struct cairn_short_record);
		char *record = records + begin;
		if (!is_open(record))
			continue;
		const uint64_t behind = begin + reserved_for(record);
		end = behind > end ? behind : end;
		if (i < depth)
			continue;
		if (behind > used) // all of it must be visible once it is committed
			atomic_store_explicit(&b->used, behind, memory_order_release);
		end_record(b, record, at);
	}
	if (depth < CAIRN_DEPTH)
		atomic_store_explicit(&b->unwound, 0, memory_order_relaxed);
	return records + end;
}

// alternate returns the thread's stack for signal handlers.
static stack_t alternate(void)
{
	const int saved = errno;
	stack_t s;

	if (syscall(SYS_sigaltstack, NULL, &s) != 0)
		s.ss_flags = SS_DISABLE;
	errno = saved;
	return s;
}

static bool in_alternate(uintptr_t address)
{
	static __thread uintptr_t elsewhere __attribute__((tls_model("initial-exec"))); // asked for last, by each call within an open one
	if (address == elsewhere)
		return false;
	const stack_t s = alternate();
	const bool there = (s.ss_flags & SS_DISABLE) == 0 && address - (uintptr_t)s.ss_sp <= s.ss_size;

	if (!there)
		elsewhere = address;
	return there;
}

// on_alternate reports whether the thread is on that stack, which may be a part of its own.
static bool on_alternate(void)
{
	return (alternate().ss_flags & SS_ONSTACK) != 0;
}

// may_return reports whether an open call may return, as far as a later one shows. Where its frame is
// on the thread's own stack and the later call's is not below it, it cannot. That of a handler is
// below what the handler has interrupted, or on a stack of its own. Of stacks that the thread has
// beside these (coroutines) nothing is known, but that two calls do not have one frame.
static bool may_return(uintptr_t open, uintptr_t later)
{
	const bool own = cairn_on_own_stack(open);

	if (open == later)
		return false;
	if (own && cairn_on_own_stack(later))
		return later < open || on_alternate();
	if (own || !in_alternate(open))
		return true;
	return !cairn_on_own_stack(later) && (!in_alternate(later) || later < open);
}

// opened returns the record of a nested call that was opened last.
static void *opened(const struct cairn_buffer *b, unsigned depth)
{
	return (char *)(uintptr_t)b + CAIRN_BUFFER_HEADER + b->opened[depth] - sizeof(struct cairn_short_record);
}

// has_frame reports whether the return address of an open call is still where the call has put it,
// in the part of the stack that later calls do not use.
__attribute__((no_sanitize("address"))) // the frame may be gone
static bool has_frame(const struct cairn_buffer *b, unsigned depth, uintptr_t frame)
{
	const void *record = opened(b, depth);
	const uint64_t first = ((const struct cairn_record_header *)(const void *)record)->first;
	const struct cairn_record_header *h = is_short(record) ? original_of(b, first) : record;

	if (h->binding != 0 || h->caller >> CAIRN_ENTRY_SHIFT == CAIRN_ENTRY_TAG)
		return true; // the word is not the address
#ifdef __x86_64__
	return ((const uint64_t *)frame)[-1] == h->caller;
#else
	return frame != 0; // where it is depends on the wrapper
#endif
}

unsigned cairn_still_open(const struct cairn_thread *t, const void *later)
{
	unsigned depth = t->depth;

	while (depth > 0) {
		const uintptr_t open = (uintptr_t)t->frame[depth - 1];
		if (may_return(open, (uintptr_t)later) &&
		    !(cairn_on_own_stack(open) && cairn_on_own_stack((uintptr_t)later) && !has_frame(t->buffer, depth - 1, open)))
			break;
		depth--;
	}
	return depth;
}

bool cairn_resumes(const struct cairn_thread *t, const void *frame)
{
	return cairn_on_own_stack((uintptr_t)frame) && (int32_t)((uint32_t)(uintptr_t)frame - (t->busy - CAIRN_IN_FRAME)) >= 0 &&
		!on_alternate();
}

// The unwinder calls this for each frame of a wrapper that an exception, pthread_exit or
// pthread_cancel leaves, first while it looks for a handler, then when it leaves the frame
// (System V ABI for AMD64, 6.2.6). An exception leaves the innermost call that it was not yet seen
// to leave; the end of a thread leaves all.
int cairn_unwound(int version, int actions, uint64_t class, void *exception, void *context)
{
	enum { CLEANUP_PHASE = 2, FORCE_UNWIND = 8, CONTINUE_UNWIND = 8 };
	const struct cairn_thread *t = &cairn_self;

	(void)version, (void)class, (void)exception, (void)context;
	if ((actions & CLEANUP_PHASE) == 0 || t->depth == 0 || t->buffer == NULL)
		return CONTINUE_UNWIND;
	struct cairn_buffer *b = t->buffer;
	uint64_t from = atomic_load_explicit(&b->unwound, memory_order_relaxed) != 0 ? b->unwound_from : UINT64_MAX;
	for (unsigned depth = t->depth; depth > 0; depth--) {
		const uint64_t enter = enter_of(b, opened(b, depth - 1));
		if (enter == 0 || was_seen(b, enter))
			continue;
		from = enter < from ? enter : from;
		break;
	}
	b->unwound_from = (actions & FORCE_UNWIND) != 0 ? 0 : from;
	atomic_store_explicit(&b->unwound, cairn_now(), memory_order_release);
	return CONTINUE_UNWIND;
}
