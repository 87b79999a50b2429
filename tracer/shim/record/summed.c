#include "summed.h"

#include <errno.h>
#include <string.h>

#include "../process/memory.h"
#include "../process/wide.h"

enum {
	SLOTS = 256, // a power of two
	PROBES = 4,  // slots that are looked at for an original
	LEAST_ROWS = 8,
	MAX_ROWS = 192, // fewer than slots
	ORIGINAL_BITS = 16, // in a row
	LEAST_REPEATS = 4, // calls in a row that repeat originals before a summed record begins
	MAX_REPEATS = 1024,
	IN_A_WORD = 4,
};

// Where the sums of an original are.
struct slot {
	uint16_t original;
	uint16_t record; // number of the summed record; another one: the slot is free
	uint16_t row;
};

struct cairn_summing {
	struct cairn_summed *record; // the thread's; NULL: none
	struct cairn_sums *sums;     // its rows
	unsigned rows, room;         // how many of them are used, and how many there are
	uint16_t *word;              // its last four calls
	unsigned in_word;            // how many of them there are
	uint16_t number;             // of the record
	unsigned repeats, enough;    // calls in a row that repeat originals; how many a record needs to begin
	unsigned next_rows;          // of the next record
	struct slot slots[SLOTS];
};

void cairn_sums_begin(struct cairn_thread *t)
{
	struct cairn_summing *s = t->summing;

	if (s == NULL) {
		const int saved = errno;
		void *memory = cairn_map(sizeof(*s), PROT_READ | PROT_WRITE, -1);
		errno = saved;
		if (memory == NULL)
			return;
		t->summing = s = memory;
		s->next_rows = LEAST_ROWS;
		s->enough = LEAST_REPEATS;
	}
	s->record = NULL;
	s->repeats = 0;
	t->sums = true;
}

static uint64_t count_of(const struct cairn_summed *r)
{
	return atomic_load_explicit(&r->progress, memory_order_relaxed) & ((1 << CAIRN_SUMMED_COUNT_BITS) - 1);
}

void cairn_sums_end(struct cairn_thread *t)
{
	struct cairn_summing *s = t->summing;
	struct cairn_summed *r = s->record;

	s->repeats = 0;
	if (r == NULL)
		return;
	const uint64_t end = (uint64_t)((const char *)r - (const char *)t->buffer) - CAIRN_BUFFER_HEADER + r->length;
	if (end > atomic_load_explicit(&t->buffer->used, memory_order_relaxed)) // it was interrupted while it grew
		atomic_store_explicit(&t->buffer->used, end, memory_order_release);
	atomic_store_explicit(&r->state, CAIRN_COMMITTED, memory_order_release);
	// Where records end so early that short ones need less, ever fewer are begun.
	if (r->length <= count_of(r) * sizeof(struct cairn_short_record))
		s->enough = LEAST_REPEATS;
	else if (s->enough < MAX_REPEATS)
		s->enough *= 2;
	s->next_rows = s->rows < LEAST_ROWS ? LEAST_ROWS : s->rows;
	s->record = NULL;
}

// sums_of returns the sums of an original in the thread's record; NULL: there is no row left.
static struct cairn_sums *sums_of(struct cairn_summing *s, uint16_t original)
{
	const unsigned hash = original * 0x9e3779b1u >> 24;
	struct slot *free = &s->slots[hash & (SLOTS - 1)]; // if none is free, readers add up what is in two rows

	for (unsigned i = 0; i < PROBES; i++) {
		struct slot *at = &s->slots[(hash + i) & (SLOTS - 1)];
		if (at->record != s->number)
			free = at;
		else if (at->original == original)
			return &s->sums[at->row];
	}
	if (s->rows == s->room)
		return NULL;
	*free = (struct slot){original, s->number, (uint16_t)s->rows};
	s->sums[s->rows].gap = original;
	return &s->sums[s->rows++];
}

// put_call puts a call behind the others of the record. It is the count-th once progress says so.
static void put_call(struct cairn_summing *s, struct cairn_summed *r, struct cairn_sums *sums, uint64_t gap, const struct cairn_record *record, uint64_t count)
{
	sums->gap += gap << ORIGINAL_BITS;
	sums->duration += record->exit - record->call.enter;
	s->word[s->in_word++] = (uint16_t)sums->gap;
	r->epoch = record->epoch;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&r->progress, (record->exit - r->enter) << CAIRN_SUMMED_COUNT_BITS | count, memory_order_release);
}

// begin_summed replaces the call's open short record, which is all that readers see until the last
// store, by a summed record.
static char *begin_summed(struct cairn_thread *t, const struct cairn_record *record, uint16_t original)
{
	struct cairn_summing *s = t->summing;
	struct cairn_summed *r = (void *)record->header;
	const uint64_t length = sizeof(*r) + s->next_rows * sizeof(*s->sums) + 8;
	const struct cairn_summed begin = {
		.length = (uint32_t)length, .function = CAIRN_SUMMED_RECORD, .rows = s->next_rows};

	if (t->soft - (char *)r < (int64_t)length)
		return NULL;
	if (++s->number == 0) { // old numbers come again
		memset(s->slots, 0, sizeof(s->slots));
		s->number = 1;
	}
	memset(r + 1, 0, length - sizeof(*r));
	s->sums = (void *)(r + 1);
	s->rows = 0;
	s->room = s->next_rows;
	s->word = (void *)(s->sums + s->room);
	s->in_word = 0;
	r->enter = record->call.enter;
	put_call(s, r, sums_of(s, original), 0, record, 1);
	if (length > record->size)
		atomic_store_explicit(&((struct cairn_short_record *)(void *)r)->first, cairn_short_record(record, CAIRN_SHORT_OPEN, length), memory_order_release);
	cairn_publish(t, (char *)r + length);
	cairn_store_pair(r, begin.first, begin.second);
	atomic_signal_fence(memory_order_seq_cst);
	s->record = r; // only now is it one that a call from a signal handler may end
	return (char *)r + length;
}

// add_word makes room for four more calls, while no record is behind the summed one.
static char *add_word(struct cairn_thread *t)
{
	struct cairn_summing *s = t->summing;
	uint64_t *end = (uint64_t *)(void *)((char *)s->record + s->record->length);

	s->word = (uint16_t *)(void *)end;
	s->in_word = 0;
	*end++ = 0;
	__atomic_store_n(&s->record->length, s->record->length + 8, __ATOMIC_RELEASE);
	cairn_publish(t, end);
	return (char *)end;
}

// with_more_rows ends the record, which has too few of them. The next one begins at once, unless it
// could not have more.
static void with_more_rows(struct cairn_thread *t)
{
	struct cairn_summing *s = t->summing;
	const unsigned rows = 2 * s->room;

	cairn_sums_end(t);
	if (rows / 2 == MAX_ROWS)
		return;
	s->enough = 1;
	s->next_rows = rows < MAX_ROWS ? rows : MAX_ROWS;
}

// may_have_sums reports whether a call can be in a summed record at all. One whose epoch orders it
// among the calls of other threads cannot; nor can a marker.
static bool may_have_sums(const struct cairn_record *record)
{
	return record->flags == 0 && record->depth == 0 && !record->held && ((record->epoch & 1) != 0 || cairn_thread_count() == 1);
}

// is_next reports whether a call can be in the thread's summed record, whose calls have one epoch.
static bool is_next(const struct cairn_summed *r, const struct cairn_record *record)
{
	return (const char *)r + r->length == (const char *)record->header && count_of(r) < CAIRN_SUMMED_CALLS &&
		(cairn_thread_count() == 1 || record->epoch == r->epoch);
}

char *cairn_sum(struct cairn_thread *t, const struct cairn_record *record)
{
	struct cairn_summing *s = t->summing;
	struct cairn_summed *r = s->record;
	const uint16_t original = (uint16_t)((uint64_t *)(void *)record->original - (uint64_t *)(void *)t->buffer);
	struct cairn_sums *sums;

	if (!may_have_sums(record) || (r != NULL && !is_next(r, record))) {
		cairn_sums_end(t);
		return NULL;
	}
	if (r != NULL && (sums = sums_of(s, original)) == NULL) {
		with_more_rows(t);
		r = NULL;
	}
	if (r == NULL)
		return ++s->repeats >= s->enough ? begin_summed(t, record, original) : NULL;
	const uint64_t before = r->enter + (atomic_load_explicit(&r->progress, memory_order_relaxed) >> CAIRN_SUMMED_COUNT_BITS);
	put_call(s, r, sums, record->call.enter - before, record, count_of(r) + 1);
	cairn_publish(t, record->header); // the short record is not a call any more
	return s->in_word == IN_A_WORD ? add_word(t) : (char *)record->header;
}
