// Random calls through record.h, and a reader of its own that knows only the text of
// docs/decisions/0001-seams.md: whenever it looks, the buffer has exactly the calls so far.
//
//	records between SEED SEEDS   it looks between the steps of a call
//	records within SEED SEEDS    it looks before every instruction of a step
//
// It prints how many records there were of each state. A state without any is an error, but not
// within steps, where the calls depend on the compiler's instructions.
#include "../process/thread.c"
#include "../process/uninterrupted.c"

#define CAIRN_REFERENCE_GEN_H // it needs MPI
#include "../record/record.c"
#include "../record/left.c"
#include "../record/summed.c"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(what)                                                                           \
	do {                                                                                  \
		if (!(what))                                                                  \
			fail(__LINE__, #what);                                                \
	} while (0)

enum { LISTS = 24, MOST_WORDS = 100, BUFFERS = 3, LARGEST = 1 << 20, MOST = LARGEST / 16 };
enum { HEADER_WORDS = 4096 / 8, SHORT_WORDS = 2, RECORD_WORDS = 7, SUMMED_WORDS = 5, ROW_WORDS = 2, SUMMED_FUNCTION = 0xfffe, DEPTH = 3, LEFT = 4, TRAP_FLAG = 0x100 };

// Words of inputs or outputs.
struct list {
	uint64_t n, words[MOST_WORDS];
};

enum phase { ABSENT, OPEN, ENTERED, COMMITTED };

// A call as the reader must find it. During a step it may be in either of two phases.
struct expected {
	uint16_t function;
	uint8_t binding, flags;
	unsigned depth;
	uint64_t caller, first_epoch, epoch, result;
	volatile uint64_t enter, exit;
	const struct list *inputs, *outputs;
	volatile enum phase least, most;
	volatile bool left; // by longjmp
};

// A record as the reader finds it; inputs and outputs are positions in words of the segment.
struct found {
	unsigned state; // of a short record; RECORD, OPEN_RECORD: it is not short
	bool committed;
	uint16_t function;
	uint8_t binding, flags;
	uint64_t caller, epoch, enter, exit, result, inputs, n_inputs, outputs, n_outputs, next;
};

enum { SHORT_OPEN, EQUAL, OUTPUTS, EXPLICIT, RECORD, OPEN_RECORD, SUMMED, SUMMED_CALL, STATES };
static const char *const states[] = {
	"open", "equal", "outputs", "explicit", "record", "open record", "summed record", "call in it"};

static struct list lists[LISTS];
static struct expected calls[MOST];
static volatile uint64_t count;          // of expected calls in the segment
static const uint64_t *volatile segment; // NULL: the reader must not look
static uint64_t end;                     // words of the segment that it may look at
static bool starts[HEADER_WORDS + LARGEST / 8]; // where records begin that are not short
static uint64_t counts[STATES], looks, repeats;

static _Alignas(4096) char buffers[BUFFERS][CAIRN_BUFFER_HEADER + LARGEST];
static uint64_t capacity, sequence, dropped;

static uint64_t seed, random_state, last_epoch;
static uint64_t ticks;    // the clock's last reading
static bool within;       // the reader looks within steps
static bool alone;        // the process has one thread
static bool gives_up;     // times, in some segments
static bool calm;         // most calls repeat the ones before
static unsigned interval; // it looks after every so many steps on average
static uint64_t variety, sites, rarity; // of inputs, of call sites, and of leaps in pass

// The call that is being entered or has just returned, and where its reading of the clock goes.
static struct expected *volatile step;
static volatile uint64_t *volatile reading;

static _Noreturn void fail(int line, const char *what)
{
	fprintf(stderr, "records.c:%d: %s does not hold: seed %lu, segment %lu, call %lu of it\n",
		line, what, seed, sequence, count);
	_exit(1);
}

static uint64_t below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % n;
}

// The reader.

static uint64_t at(uint64_t i)
{
	CHECK(i < end);
	return segment[i];
}

static uint64_t bits(uint64_t word, unsigned first, unsigned last)
{
	return word << (63 - last) >> (63 - last + first);
}

// words returns how many words a length in bytes is.
static uint64_t words(uint64_t bytes)
{
	CHECK(bytes % 8 == 0);
	return bytes / 8;
}

static void read_first_word(struct found *f, uint64_t word)
{
	f->function = (uint16_t)bits(word, 32, 47);
	f->binding = (uint8_t)bits(word, 48, 55);
	f->flags = (uint8_t)bits(word, 56, 63);
}

static struct found read_record(uint64_t i)
{
	const uint64_t length = words(bits(at(i), 0, 31)), reserved = words(bits(at(i + 1), 0, 31));
	const uint64_t inputs = bits(at(i + 1), 33, 47); // 0: nobody's original
	struct found f = {.state = OPEN_RECORD, .epoch = at(i + 2), .enter = at(i + 3),
		.exit = at(i + 4), .caller = at(i + 5), .result = at(i + 6),
		.inputs = i + RECORD_WORDS, .n_inputs = length - RECORD_WORDS,
		.next = i + reserved};

	read_first_word(&f, at(i));
	CHECK(length >= RECORD_WORDS && length <= reserved && i + length <= end);
	if (bits(at(i + 1), 32, 32) == 0)
		return f;
	f.state = RECORD;
	f.committed = true;
	if (inputs == 0)
		return f;
	CHECK(inputs >= RECORD_WORDS && inputs <= length);
	f.n_inputs = inputs - RECORD_WORDS;
	f.outputs = i + inputs;
	f.n_outputs = length - inputs;
	return f;
}

static void read_explicit(struct found *f, uint64_t i)
{
	const uint64_t length = words(bits(at(i), 0, 31));

	read_first_word(f, at(i));
	f->epoch = at(i + 1);
	f->enter = at(i + 2);
	f->exit = at(i + 3);
	f->result = at(i + 4);
	f->outputs = i + 5;
	CHECK(length >= RECORD_WORDS && i - SHORT_WORDS + length <= f->next);
	f->n_outputs = length - RECORD_WORDS;
}

static struct found read_short_record(uint64_t i)
{
	const uint64_t original = bits(at(i), 3, 18), duration = bits(at(i), 19, 63);

	CHECK(original < i && starts[original]);
	struct found f = read_record(original);
	CHECK(f.committed && f.outputs != 0);
	f.state = (unsigned)bits(at(i), 1, 2);
	f.committed = f.state != SHORT_OPEN;
	f.enter = segment[5] + bits(at(i + 1), 0, 39);
	f.exit = f.enter + duration;
	f.epoch = segment[8] + bits(at(i + 1), 40, 63);
	f.next = i + SHORT_WORDS;
	if (f.state == OUTPUTS) {
		f.outputs = f.next;
		f.next += f.n_outputs;
	} else if (f.state != EQUAL) {
		f.next = i + words(duration);
	}
	if (f.state == EXPLICIT)
		read_explicit(&f, i + SHORT_WORDS);
	return f;
}

static bool same(const struct list *l, uint64_t i, uint64_t n)
{
	return n == l->n && i + n <= end && memcmp(l->words, segment + i, 8 * n) == 0;
}

// split finds the outputs of a committed record that does not say where they begin.
static struct found split(struct found f, const struct expected *e)
{
	if (f.committed && f.outputs == 0) {
		CHECK(f.n_inputs >= e->inputs->n);
		f.outputs = f.inputs + e->inputs->n;
		f.n_outputs = f.n_inputs - e->inputs->n;
		f.n_inputs = e->inputs->n;
	}
	return f;
}

// compare checks an open call only for what a reader learns of it: it may just be about to be
// entered or committed.
static void compare(const struct found *f, const struct expected *e)
{
	CHECK(e->most != ABSENT);
	CHECK(f->function == e->function && f->binding == e->binding && f->caller == e->caller);
	// the length may be the whole record's just before it is committed
	const uint64_t more = f->state == OPEN_RECORD && e->most == COMMITTED ? e->outputs->n : 0;
	CHECK(f->n_inputs == e->inputs->n || f->n_inputs == e->inputs->n + more);
	CHECK(same(e->inputs, f->inputs, e->inputs->n));
	if (!f->committed) {
		const uint64_t not_entered = f->state == SHORT_OPEN ? segment[5] : 0;
		CHECK(e->least != COMMITTED);
		// one that does not fit is cut until the call is entered
		const uint64_t cut = segment[8] + bits(e->first_epoch - segment[8], 0, 23);
		CHECK(f->epoch == e->first_epoch || (f->state == SHORT_OPEN && e->least != ENTERED && f->epoch == cut) || (e->most == COMMITTED && f->epoch == e->epoch));
		if (e->least == ENTERED)
			CHECK(f->enter == e->enter);
		else
			CHECK(f->enter == not_entered || f->enter == e->enter);
		return;
	}
	if (e->left) {
		CHECK(f->epoch == e->epoch && f->enter == e->enter && f->exit >= f->enter);
		CHECK(f->result == 0 && f->flags == LEFT && f->n_outputs == 0);
		return;
	}
	CHECK(e->most == COMMITTED);
	CHECK(f->epoch == e->epoch && f->enter == e->enter && f->exit == e->exit);
	CHECK(f->result == e->result && f->flags == e->flags);
	CHECK(same(e->outputs, f->outputs, f->n_outputs));
}

// check_row compares the sums in a row with the n calls of the record that have its original.
static void check_row(uint64_t row, const uint16_t *originals, const struct expected *e, uint64_t n)
{
	uint64_t gap = 0, duration = 0;

	for (uint64_t k = 0; k < n; k++) {
		if (originals[k] != bits(at(row), 0, 15))
			continue;
		gap += k > 0 ? e[k].enter - e[k - 1].exit : 0;
		duration += e[k].exit - e[k].enter;
	}
	CHECK(gap == bits(at(row), 16, 63) && duration == at(row + 1));
}

// read_summed compares a summed record with the calls from the n-th on. It returns where it ends,
// sets n to the call after it and exit to the end of its last call, or 0 if the thread has ended it.
static uint64_t read_summed(uint64_t i, uint64_t *n, uint64_t *exit, bool last)
{
	const uint64_t length = words(bits(at(i), 0, 31)), rows = bits(at(i + 1), 0, 31), epoch = at(i + 2), enter = at(i + 3);
	const uint64_t done = bits(at(i + 4), 0, 13), items = i + SUMMED_WORDS + ROW_WORDS * rows;
	const uint16_t *originals = (const uint16_t *)(const void *)(segment + items);
	const struct expected *e = &calls[*n];

	*exit = enter + bits(at(i + 4), 14, 63);
	CHECK(done > 0 && *n + done <= count && items + (done + 3) / 4 <= i + length && items + (done + 3) / 4 <= end);
	CHECK(enter == e[0].enter && *exit == e[done - 1].exit);
	for (uint64_t k = 0; k < done; k++) {
		CHECK(starts[originals[k]] && originals[k] < i);
		struct found f = read_record(originals[k]);
		f.enter = e[k].enter;
		f.exit = e[k].exit;
		f.epoch = e[k].epoch;
		CHECK(f.committed && f.outputs != 0 && e[k].epoch <= epoch && (alone || e[k].epoch == epoch));
		compare(&f, &e[k]);
	}
	for (uint64_t k = 0; last && k < rows; k++)
		check_row(i + SUMMED_WORDS + ROW_WORDS * k, originals, e, done);
	*n += done;
	counts[SUMMED] += last;
	counts[SUMMED_CALL] += last ? done : 0;
	if (bits(at(i + 1), 32, 32) != 0)
		*exit = 0;
	return i + length < end ? i + length : end;
}

// look reads the segment; last: and counts its records.
static void look(bool last)
{
	uint64_t n = 0, exit = 0;

	if (segment == NULL)
		return;
	looks++;
	end = HEADER_WORDS + words(segment[3]);
	memset(starts, 0, end);
	for (uint64_t i = HEADER_WORDS; i < end; n++) {
		if (bits(segment[i], 0, 0) == 0 && bits(segment[i], 32, 47) == SUMMED_FUNCTION) {
			i = read_summed(i, &n, &exit, last);
			n--;
			continue;
		}
		// what is left of the last call of a summed record
		if (exit != 0 && bits(segment[i], 0, 2) == 1 && bits(at(i + 1), 0, 39) != 0 && segment[5] + bits(at(i + 1), 0, 39) <= exit)
			break;
		exit = 0;
		starts[i] = bits(segment[i], 0, 0) == 0;
		const struct found f = starts[i] ? read_record(i) : read_short_record(i);
		CHECK(n < count && f.next > i);
		const struct found whole = split(f, &calls[n]);
		compare(&whole, &calls[n]);
		i = f.next;
		counts[f.state] += last;
	}
	for (; n < count; n++)
		CHECK(calls[n].least == ABSENT);
}

static void look_sometimes(void)
{
	if (below(interval) == 0)
		look(false);
}

// What record.c needs of the rest of the shim.

bool cairn_clock_is_tsc, cairn_call_paths;
_Atomic int cairn_state;
_Atomic bool cairn_python_loaded;
struct cairn_config cairn_config;
const struct cairn_reference *_Atomic cairn_reference;

static void call(unsigned depth);

// trap begins or ends a signal after every instruction.
static void trap(bool on)
{
	const uint64_t flags = __readeflags() & ~(uint64_t)TRAP_FLAG;

	__writeeflags(flags | (on && within ? TRAP_FLAG : 0));
}

// interrupt is a signal handler that sometimes makes a call. A call that it interrupts while the
// thread is not busy is in the buffer.
static void interrupt(uint64_t seldom)
{
	struct expected *e = step;
	volatile uint64_t *r = reading;

	if (e == NULL || e->depth == DEPTH || cairn_self.busy != 0 || below(seldom) != 0)
		return;
	if (e->least == ABSENT)
		e->least = OPEN;
	const uint64_t flags = __readeflags();
	trap(false);
	call(e->depth + 1);
	__writeeflags(flags);
	step = e;
	reading = r;
}

// The time passes only here and in pass.
int clock_gettime(clockid_t clock, struct timespec *t)
{
	struct expected *e = step;

	(void)clock;
	interrupt(calm ? 1000 : 16);
	step = NULL;
	ticks += 1 + below(1000);
	t->tv_sec = (time_t)(ticks / 1000000000);
	t->tv_nsec = (long)(ticks % 1000000000);
	if (e != NULL)
		*reading = ticks;
	step = e;
	return 0;
}

uint64_t cairn_evidence_enter(struct cairn_thread *t, const struct cairn_call *c, uint64_t now)
{
	(void)t, (void)c, (void)now;
	return cairn_now();
}

void cairn_evidence_exit(struct cairn_thread *t, const struct cairn_call *c, uint64_t now)
{
	(void)t, (void)c, (void)now;
}

// finish looks at a segment for the last time.
static void finish(void)
{
	look(true);
	CHECK(segment[4] == dropped);
	segment = NULL;
	count = dropped = 0;
}

// A buffer is given out again with what the last user left in it.
struct cairn_buffer *cairn_buffers_next(uint32_t thread, struct cairn_buffer *full,
	uint64_t minimum, uint64_t *room, bool *sums)
{
	struct cairn_buffer *fresh = (struct cairn_buffer *)buffers[++sequence % BUFFERS];

	if (full != NULL)
		finish();
	segment = NULL;
	cairn_buffer_begin(fresh, thread, sequence, sequence);
	*room = capacity > minimum ? capacity : minimum;
	*sums = gives_up && below(4) != 0;
	CHECK(*room <= LARGEST);
	return fresh;
}

static bool locked;

bool cairn_buffers_lock(const void *frame)
{
	CHECK(!locked && frame != NULL);
	return locked = true;
}

void cairn_buffers_unlock(struct cairn_buffer *left)
{
	CHECK(locked && (left == NULL || left != cairn_self.buffer));
	locked = false;
}

void cairn_buffers_unmap(struct cairn_buffer *left) { CHECK(!locked && left != cairn_self.buffer); }
bool cairn_life_lost(uint64_t lost) { return lost == 0; }
void cairn_life_finalized(void) {}
void cairn_know_own_stack(void) {}
bool cairn_on_own_stack(uintptr_t address) { return address != 0; }
void cairn_stop(const char *why) { (void)why; }
void cairn_modules_refresh(void) {}
void cairn_modules_retry(bool at_end) { (void)at_end; }
void cairn_python_look(void) {}
bool cairn_modules_use(uintptr_t address) { return address == 0; }
uint64_t cairn_python_line(uint64_t caller) { return caller; }
uint64_t cairn_call_path(uint64_t caller) { return caller; }

bool cairn_modules_know(uintptr_t address, uintptr_t *base, uintptr_t *size)
{
	*base = address;
	*size = 1;
	return true;
}

// The calls.

static void trapped(int signal)
{
	(void)signal;
	look(false);
	interrupt(calm ? 100000 : 1000);
}

// enter enters a call; word is NULL if it was expected.
static uint64_t *enter(struct cairn_record *r, struct expected *e, uint64_t *word)
{
	e->most = ENTERED;
	reading = &e->enter;
	step = e;
	trap(true);
	word = word == NULL ? cairn_repeat(r, e->epoch) : cairn_enter(r, word);
	trap(false);
	step = NULL;
	e->least = ENTERED;
	return word;
}

static uint64_t *end_call(struct cairn_record *r, struct expected *e, uint64_t *word)
{
	reading = &e->exit;
	step = e;
	trap(true);
	word = cairn_exit(r, word, e->result);
	trap(false);
	step = NULL;
	return word;
}

static void commit(struct cairn_record *r, struct expected *e, const uint64_t *word, bool repeat)
{
	e->most = COMMITTED;
	trap(true);
	if (repeat)
		cairn_commit_repeat(r, word - e->outputs->n, word, true);
	else
		cairn_commit(r, word);
	trap(false);
	e->least = COMMITTED;
}

// pass lets some time pass, or calls of other threads, seldom so many that they do not fit in a
// short record.
static void pass(void)
{
	const uint64_t what = below(rarity);

	if (what < 2)
		ticks += (uint64_t)1 << (what == 0 ? 41 : 46);
	ticks += below(1 << 21);
	if (what > 1 && what < 4)
		last_epoch += (uint64_t)2 << (what == 2 ? 24 : 3);
	atomic_store(&cairn_epoch, last_epoch);
}

static void take_epoch(struct cairn_record *r, struct expected *e,
	void (*take)(struct cairn_record *))
{
	if (below(calm ? 500 : 4) != 0)
		return;
	take(r);
	e->epoch = last_epoch += 2;
}

static void fill(struct list *l, uint64_t k)
{
	static const uint8_t lengths[] = {0, 1, 2, 3, 5, 6, 7, 8, 20, MOST_WORDS};

	if (k > 0 && below(2) == 0) { // differs from another one in little
		*l = lists[below(k)];
		const uint64_t n = l->n;
		if (n > 0 && below(4) == 0)
			l->n--;
		else if (n > 0)
			l->words[below(2) == 0 ? n - 1 : below(n)] ^= (uint64_t)1 << below(64);
		return;
	}
	l->n = lengths[below(sizeof(lengths))];
	for (uint64_t i = 0; i < l->n; i++)
		l->words[i] = below(2) == 0 ? below(3) - 1 : random_state;
}

// is_expected reports whether a call is what the thread expects, as a wrapper does.
static bool is_expected(struct cairn_record *r, unsigned function, uint64_t bytes, uint64_t caller,
	const struct list *inputs, const void *frame)
{
	const uint64_t *in = cairn_expected(r, function, bytes, caller, frame);

	if (in == NULL)
		return false;
	if (r->original->state >> 1 == RECORD_WORDS + inputs->n &&
		cairn_same_words(in, inputs->words, inputs->n)) {
		repeats++;
		return true;
	}
	cairn_idle(&cairn_self);
	return false;
}

// open_call opens the record of a random call, one of few; NULL: it is not recorded. *word is NULL
// if it was expected.
static struct expected *open_call(struct cairn_record *r, unsigned depth, uint64_t **word,
	uint64_t *frame)
{
	const struct list *inputs = &lists[below(variety)];
	const struct list *outputs = below(calm ? 500 : 4) == 0 ? &lists[below(variety)] : inputs;
	const uint64_t function = 1 + below(2);
	const uint64_t caller = 977 + 977 * below(sites), fortran = caller % 2;
	const uint64_t most = RECORD_WORDS + inputs->n + outputs->n + below(3);
	frame[-1] = caller;
	const bool repeat = is_expected(r, (unsigned)function, 8 * most, caller, inputs, frame);

	*word = repeat ? NULL : cairn_open(r, (unsigned)function, 8 * most, caller | fortran << 63, frame);
	segment = (const uint64_t *)(const void *)cairn_self.buffer;
	if (*word == NULL && !repeat) {
		CHECK(depth > 0);
		dropped++;
		return NULL;
	}
	struct expected *e = &calls[count];
	*e = (struct expected){.function = (uint16_t)function, .binding = (uint8_t)fortran,
		.depth = depth, .caller = caller, .epoch = last_epoch + 1, .inputs = inputs,
		.outputs = outputs};
	count++;
	look_sometimes();
	if (!repeat) {
		memcpy(*word, inputs->words, 8 * inputs->n);
		*word += inputs->n;
	}
	return e;
}

// call makes a call, in which there may be others, and which may be left by longjmp.
static __attribute__((noinline)) void call(unsigned depth)
{
	struct cairn_record r;
	uint64_t stack[2], *word; // where the return address is, and what is above it
	struct expected *e = open_call(&r, depth, &word, stack + 1);

	if (e == NULL)
		return;
	const bool repeat = word == NULL;
	take_epoch(&r, e, cairn_epoch_before);
	e->first_epoch = e->epoch;
	look_sometimes();
	word = enter(&r, e, word);
	look_sometimes();
	for (pass(); depth < DEPTH && below(calm ? 1000 : 5) == 0; pass())
		call(depth + 1);
	if (below(calm ? 1000 : 20) == 0) {
		e->left = true;
		return;
	}
	e->result = below(calm ? 500 : 8) == 0 ? random_state : 0;
	word = end_call(&r, e, word);
	memcpy(word, e->outputs->words, 8 * e->outputs->n);
	r.flags = e->flags = (uint8_t)(below(calm ? 500 : 8) == 0 ? below(4) : 0);
	take_epoch(&r, e, cairn_epoch_after);
	look_sometimes();
	commit(&r, e, word + e->outputs->n, repeat);
	look_sometimes();
}

// process is one of a thread: some calls before MPI_Init, then many. Some have large buffers, where
// the end is too far behind for originals.
static void process(uint64_t number)
{
	const bool large = number % 16 == 0;

	seed = number;
	random_state = number * 0x9e3779b97f4a7c15u | 1;
	sequence = count = dropped = 0;
	segment = NULL;
	gives_up = number % 3 == 0;
	alone = below(2) == 0;
	calm = gives_up && below(4) != 0;
	if (cairn_self.summing != NULL)
		munmap(cairn_self.summing, sizeof(*cairn_self.summing));
	ticks = below((uint64_t)1 << 40);
	atomic_store(&cairn_epoch, last_epoch = 2);
	memset(&cairn_self, 0, sizeof(cairn_self));
	memset(first, 0, sizeof(first));
	atomic_store(&locations, alone ? 0 : 7);
	memset(early, 0, sizeof(early));
	atomic_store(&early_taken, below(2) == 0);
	cairn_self.long_ticks = (uint64_t)1 << (below(2) == 0 ? 20 : 63);
	cairn_self.expiry = UINT64_MAX;
	capacity = large ? LARGEST : CAIRN_NESTED_RESERVE + ((uint64_t)1024 << below(8));
	interval = large ? 200 : 2;
	variety = large && !calm ? LISTS : 1 + below(1 + below(calm ? 6 : LISTS));
	sites = 1 + (below(4) == 0 && !calm ? below(1000) : below(2));
	rarity = (within && !calm ? 100 : 1000) << below(within ? 4 : 10);
	for (uint64_t k = 0; k < LISTS; k++)
		fill(&lists[k], k);
	atomic_store(&cairn_state, CAIRN_EARLY);
	for (uint64_t n = below(20); n > 0; n--, pass())
		call(0);
	atomic_store(&cairn_state, CAIRN_ON);
	for (uint64_t n = large ? 10000 : within ? 60 : 1000; n > 0; n--, pass())
		call(0);
	finish();
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = trapped, .sa_flags = SA_NODEFER};

	if (argc != 4)
		return 64;
	within = strcmp(argv[1], "within") == 0;
	sigaction(SIGTRAP, &action, NULL);
	random_state = 1;
	for (size_t i = 0; i < sizeof(buffers); i += sizeof(random_state)) {
		below(1);
		memcpy((char *)buffers + i, &random_state, sizeof(random_state));
	}
	const uint64_t begin = strtoul(argv[2], NULL, 10), seeds = strtoul(argv[3], NULL, 10);
	for (uint64_t s = begin; s < begin + seeds; s++)
		if (!within || s % 16 != 0)
			process(s);
	for (unsigned s = 0; s < STATES; s++)
		printf("%lu %s, ", counts[s], states[s]);
	printf("%lu looks, %lu calls were expected\n", looks, repeats);
	CHECK(within || repeats > 0);
	for (unsigned s = 0; s < STATES; s++)
		CHECK(within || counts[s] > 0);
	return 0;
}
