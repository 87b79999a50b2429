// Evidence whether a thread ran, waited for a CPU or was blocked during a long computation (between
// two calls) or a long call: 1 ms or longer. A short one costs only a comparison.
//
// A computation is only known to be long when it ends. So the call sites after which one was long
// are remembered. After the next call from such a site a reading is taken at once, and the
// difference to the reading at the end is exact. For an unexpected long computation, and for calls,
// the difference to the thread's last reading is used, limited to the duration. That reading must
// be recent (at most EXPIRY old); otherwise the instance is not measured.
//
// A reading has two parts. The quick one reads the CPU clocks of the thread and the process, and
// the thread's getrusage. If the quick one leaves a part of the time unexplained, the thorough one
// reads the run delay (/proc/thread-self/schedstat) and the I/O (/proc/thread-self/io). All
// readings take at most a thousandth of the time: each thread has a budget that grows with time,
// and the measured cost of a reading is subtracted from it. If it is used up, beginning
// computations are not measured. After call sites where the last one was not explained, the budget
// must allow for thorough readings at both ends. Only exceptionally long ones are measured then,
// too, at their end: a reader of the sums has to take them apart, since they are no sample.
//
// Sums are in a mapped file, and consistent at any time: each row has two copies, one valid and
// one to be written.
#include "evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../ring/buffer.h"
#include "../process/clock.h"
#include "../process/opened.h"
#include "../process/state.h"
#include "../process/thread.h"
#include "../process/uninterrupted.h"
#include "observed.h"
#include "usage.h"
#include "watch.h"

#ifndef CAIRN_PROC
#define CAIRN_PROC "/proc" // changed in tests
#endif

static const double LONG_NS = 1e6, EXCEPTION_NS = 100e6, EXPIRY_NS = 16e6, CALIBRATION_NS = 1e6;
static const int64_t NEGLIGIBLE_NS = 50000; // unexplained time off CPU that is ignored: an interrupt, the reading itself
static const int64_t BLOCKED_NS = 1000000;  // time blocked from which on I/O is read
static const int64_t DATA_BYTES = 4096;     // less is no data: a runtime wakes its own threads through pipes
static const double SHARE = 0.0005, CREDIT_NS = 100000, WORST_NS = 100000;
enum { MAX_COST_FACTOR = 4 }; // of a reading, see affordable

enum {
	FILES = 8,           // threads whose files are kept open
	SLOTS = 2048,        // size of the index of rows: a power of two
};

struct quick {
	uint64_t ticks;
	int64_t cpu_ns, process_ns;
	struct cairn_evidence_usage usage;
};

struct thorough {
	uint64_t ticks;
	int64_t delay_ns, io_bytes, io_calls; // −1: not known
};

struct watch {
	bool begun;
	bool exact, thorough_at_begin; // the last quick (thorough) reading was taken when the present computation began
	bool unmeasured;               // a long computation was expected, but the budget was used up, or its first reading interrupted
	uint16_t explain;              // bits: slots of cairn_thread.long_after with unexplained time
	uint32_t untraced;
	uint32_t random;
	uint64_t paid_until;
	double budget_ns;
	double quick_costs_ns, thorough_costs_ns; // recent cost
	struct quick quick;
	struct thorough thorough;
	struct cairn_opened schedstat, io;
	int64_t own_calls, own_bytes;                // I/O of the readings themselves
};

static __thread struct watch watch __attribute__((tls_model("initial-exec")));
_Atomic uint32_t cairn_untraced;

static struct cairn_evidence_file *file;
static uint64_t begin_ticks, begin_ns;
static _Atomic uint64_t index_of_rows[SLOTS]; // row + 1
static _Atomic uint32_t with_files;
static struct cairn_rare instances; // for who changes file->instances

void cairn_evidence_begin(void)
{
#ifdef CAIRN_NO_EVIDENCE // for comparison, in make bench-tracer-evidence
	struct cairn_evidence_file *made = NULL;
#else
	struct cairn_evidence_file *made = cairn_observed(CAIRN_OBSERVED_EVIDENCE, sizeof(*made));
#endif

	if (made == NULL)
		return;
	memcpy(made->magic, CAIRN_EVIDENCE_MAGIC, sizeof(made->magic));
	begin_ticks = cairn_now();
	begin_ns = cairn_clock_ns(CLOCK_MONOTONIC);
	cairn_usage_begin(made);
	// A new page of the file counts as a fault and as 4096 written bytes of the thread, so the first
	// rows are touched before anything is measured.
	((volatile struct cairn_evidence_file *)made)->row[0].ticks = 0;
	file = made;
}

// tick_ns returns the length of a tick in ns, 0 while it is not known well enough.
static double tick_ns(void)
{
	static _Atomic uint64_t known; // bit pattern of the double

	uint64_t bits = atomic_load_explicit(&known, memory_order_relaxed);
	double ns;
	if (bits == 0) {
		const double passed = (double)(cairn_clock_ns(CLOCK_MONOTONIC) - begin_ns);
		if (passed < CALIBRATION_NS)
			return 0;
		ns = cairn_clock_is_tsc ? passed / (double)(cairn_now() - begin_ticks) : 1;
		memcpy(&bits, &ns, sizeof(bits));
		if (passed >= 100 * CALIBRATION_NS) // accurate to about 1e-5
			atomic_store_explicit(&known, bits, memory_order_relaxed);
	}
	memcpy(&ns, &bits, sizeof(ns));
	return ns;
}

// read_file reads a file from its beginning; NULL if that is not possible any more.
static char *read_file(struct watch *w, struct cairn_opened *o, char *text, size_t size)
{
	const ssize_t n = cairn_read_again(o, text, size);

	if (n < 0)
		return NULL;
	w->own_calls++;
	w->own_bytes += n;
	return text;
}

// number reads a number and the character that must follow it; −1 if the text is different.
static int64_t number(const char **text, char after)
{
	const char *c = *text;
	int64_t x = 0;

	while (*c >= '0' && *c <= '9' && x < INT64_MAX / 10 - 10)
		x = 10 * x + *c++ - '0';
	if (c == *text || *c != after)
		return -1;
	*text = c + 1;
	return x;
}

// run_delay parses a thread's schedstat: time on a CPU, run delay, slices. All are zero if the
// kernel does not count them.
static int64_t run_delay(const char *text)
{
	int64_t ran, delay;

	if (text == NULL || (ran = number(&text, ' ')) <= 0 || (delay = number(&text, ' ')) < 0 || number(&text, '\n') < 0)
		return -1;
	return delay;
}

// read_io parses a thread's io. Reads through a mapping are only in read_bytes, reads from the page
// cache only in rchar.
static void read_io(const char *text, struct thorough *r)
{
	static const char *const names[] = {"rchar: ", "wchar: ", "syscr: ", "syscw: ", "read_bytes: ", "write_bytes: "};
	int64_t values[6];

	r->io_bytes = r->io_calls = -1;
	if (text == NULL)
		return;
	for (int i = 0; i < 6; i++) {
		const size_t n = strlen(names[i]);
		if (strncmp(text, names[i], n) != 0)
			return;
		text += n;
		if ((values[i] = number(&text, '\n')) < 0)
			return;
	}
	r->io_bytes = (values[0] > values[4] ? values[0] : values[4]) + (values[1] > values[5] ? values[1] : values[5]);
	r->io_calls = values[2] + values[3];
}

// difference returns the growth of a counter; −1 if it is not known.
static int64_t difference(int64_t after, int64_t before)
{
	return after < 0 || before < 0 ? -1 : after > before ? after - before : 0;
}

// cost_since returns the cost in ns of the work since a time, at most WORST_NS: a preemption is not
// part of the cost.
static double cost_since(uint64_t since, double ns)
{
	const double passed = (double)(cairn_now() - since) * ns;
	return passed < WORST_NS ? passed : WORST_NS;
}

// read_usage reads what getrusage counts for the thread. A kernel that has never counted a page
// fault for a running thread counts none of it (gVisor).
static struct cairn_evidence_usage read_usage(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u) != 0 || u.ru_minflt <= 0)
		return (struct cairn_evidence_usage){-1, -1, -1, -1, -1};
	return (struct cairn_evidence_usage){
		u.ru_minflt, u.ru_majflt, u.ru_nvcsw, u.ru_nivcsw, u.ru_stime.tv_sec * 1000000000 + u.ru_stime.tv_usec * 1000,
	};
}

// read_quick takes a quick reading. The thread may lose its CPU between two counters, which kernels
// prefer to do at the end of a system call. At the beginning of what is measured those that count
// that are read first, at the end last, so that the difference has it.
static struct quick read_quick(struct watch *w, bool begins, double ns)
{
	const uint64_t began = cairn_now();
	struct quick q = {.usage = begins ? read_usage() : (struct cairn_evidence_usage){0}};

	q.ticks = begins ? cairn_now() : began;
	q.cpu_ns = (int64_t)cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	q.process_ns = (int64_t)cairn_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (!begins)
		q.usage = read_usage();
	w->quick_costs_ns += (cost_since(began, ns) - w->quick_costs_ns) / 8;
	return q;
}

// drop_if_interrupted forgets the last reading as one at the beginning of what follows if the thread
// has lost its CPU since a time at which it began: some of its counters may have that, others not.
static bool drop_if_interrupted(struct watch *w, uint64_t began, double ns)
{
	if ((double)(cairn_now() - began) * ns < WORST_NS + 2 * (w->quick_costs_ns + 2 * w->thorough_costs_ns))
		return false;
	w->quick.ticks = 0;
	w->exact = false;
	return true;
}

static struct thorough read_thorough(struct watch *w, double ns)
{
	char text[512];
	struct thorough r = {.ticks = cairn_now()};

	r.delay_ns = run_delay(read_file(w, &w->schedstat, text, sizeof(text)));
	const int64_t calls = w->own_calls, bytes = w->own_bytes; // before reading io, whose own I/O is counted later
	read_io(read_file(w, &w->io, text, sizeof(text)), &r);
	if (r.io_bytes >= 0) {
		r.io_bytes = difference(r.io_bytes, bytes);
		r.io_calls = difference(r.io_calls, calls);
	}
	w->thorough_costs_ns += (cost_since(r.ticks, ns) - w->thorough_costs_ns) / 8;
	return r;
}

// start makes the thread's first reading.
static bool start(struct cairn_thread *t, struct watch *w)
{
	if (atomic_load_explicit(&cairn_state, memory_order_acquire) != CAIRN_ON)
		return false;
	if (file == NULL) {
		t->long_ticks = t->expiry = UINT64_MAX;
		return false;
	}
	const double ns = tick_ns();
	if (ns <= 0)
		return false;
	if (!w->begun) {
		w->begun = true;
		w->quick_costs_ns = 1000;
		w->thorough_costs_ns = 5000;
		w->random = cairn_thread_number() * 2654435769u;
		w->schedstat.file = w->io.file = -1;
		cairn_usage_calls_mpi(cairn_thread_number(), (int)syscall(SYS_gettid));
		if (atomic_fetch_add(&with_files, 1) < FILES) {
			cairn_open_file(&w->schedstat, CAIRN_PROC "/thread-self/schedstat");
			cairn_open_file(&w->io, CAIRN_PROC "/thread-self/io");
		}
		w->thorough = read_thorough(w, ns);
		w->quick = read_quick(w, true, ns);
		w->paid_until = w->quick.ticks;
		w->budget_ns = CREDIT_NS; // the first reading is free
	}
	t->long_ticks = (uint64_t)(LONG_NS / ns);
	return true;
}

// affordable reports whether the budget allows for costs_ns times a random factor from 1 to
// MAX_COST_FACTOR. Without that factor, the first of two alternating call sites would always use up
// what the second one needs.
static bool affordable(struct watch *w, uint64_t now, double costs_ns, double ns)
{
	w->budget_ns += (double)(now - w->paid_until) * ns * SHARE;
	w->paid_until = now;
	// On a slow machine thorough readings at both ends cost more than the credit: allow
	// saving up for them.
	const double needed = MAX_COST_FACTOR * 2 * (w->quick_costs_ns + w->thorough_costs_ns);
	const double max_budget = needed > CREDIT_NS ? needed : CREDIT_NS;
	if (w->budget_ns > max_budget)
		w->budget_ns = max_budget;
	w->random ^= w->random << 13;
	w->random ^= w->random >> 17;
	w->random ^= w->random << 5;
	return w->budget_ns >= costs_ns * (1 + w->random % MAX_COST_FACTOR);
}

static bool is_of(const struct cairn_evidence_row *row, const struct cairn_evidence_row *key)
{
	return row->thread == key->thread && row->after == key->after && row->before == key->before &&
		row->after_caller == key->after_caller && row->before_caller == key->before_caller;
}

// find_row finds or adds the row of two call sites of a thread, NULL if there is no room.
static struct cairn_evidence_row *find_row(const struct cairn_evidence_row *key)
{
	uint64_t h = (key->after_caller * 31 + key->before_caller) * 31 + ((uint64_t)key->thread << 32 | (uint32_t)key->after << 16 | key->before);

	h *= 0x9e3779b97f4a7c15u;
	for (uint64_t i = h >> 53;; i = (i + 1) % SLOTS) {
		uint64_t at = atomic_load_explicit(&index_of_rows[i], memory_order_acquire);
		if (at == 0) {
			uint64_t n = atomic_load(&file->rows);
			do {
				if (n >= CAIRN_EVIDENCE_ROWS)
					return NULL;
			} while (!atomic_compare_exchange_weak(&file->rows, &n, n + 1));
			struct cairn_evidence_row *row = &file->row[n];
			row->thread = key->thread;
			row->after = key->after;
			row->before = key->before;
			row->after_caller = key->after_caller;
			row->before_caller = key->before_caller;
			while (!atomic_compare_exchange_strong(&index_of_rows[i], &at, n + 1)) {
				at = 0; // another thread has added a row here
				i = (i + 1) % SLOTS;
			}
			return row;
		}
		if (is_of(&file->row[at - 1], key))
			return &file->row[at - 1];
	}
}

static int64_t plus(int64_t sum, int64_t x)
{
	return sum < 0 || x < 0 ? -1 : sum + x;
}

static struct cairn_evidence_usage plus_usage(struct cairn_evidence_usage a, struct cairn_evidence_usage b)
{
	return (struct cairn_evidence_usage){
		plus(a.minor_faults, b.minor_faults), plus(a.major_faults, b.major_faults), plus(a.voluntary, b.voluntary),
		plus(a.involuntary, b.involuntary), plus(a.system_ns, b.system_ns),
	};
}

// usage_between returns a share of what was counted between two readings.
static struct cairn_evidence_usage usage_between(struct cairn_evidence_usage after, struct cairn_evidence_usage before, double share)
{
#define CAIRN_PART(field) (int64_t)(share * (double)difference(after.field, before.field) + 0.5)
	if (after.minor_faults < 0 || before.minor_faults < 0)
		return (struct cairn_evidence_usage){-1, -1, -1, -1, -1};
	return (struct cairn_evidence_usage){
		CAIRN_PART(minor_faults), CAIRN_PART(major_faults), CAIRN_PART(voluntary), CAIRN_PART(involuntary), CAIRN_PART(system_ns),
	};
#undef CAIRN_PART
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

// add adds an instance to the copy of the sums that is not valid, and makes it the valid one.
static void add(struct cairn_evidence_row *row, const struct cairn_evidence_sums *one)
{
	const uint64_t which = atomic_load_explicit(&row->which, memory_order_relaxed);
	struct cairn_evidence_sums *next = &row->sums[which == 1];

	if (which == 0)
		memset(next, 0, sizeof(*next));
	else
		*next = row->sums[which - 1];
	next->count++;
	next->wall_ns += one->wall_ns;
	next->cpu_ns += one->cpu_ns;
	next->delay_ns = plus(next->delay_ns, one->delay_ns);
	next->other_ns = plus(next->other_ns, one->other_ns);
	next->blocked_ns += one->blocked_ns;
	next->seen_ns = plus(next->seen_ns, one->seen_ns);
	next->io_bytes = plus(next->io_bytes, one->io_bytes);
	next->io_calls = plus(next->io_calls, one->io_calls);
	next->data_ns = plus(next->data_ns, one->data_ns);
	next->usage = plus_usage(next->usage, one->usage);
	atomic_store_explicit(&row->which, which == 1 ? 2 : 1, memory_order_release);
}

// keep keeps an instance if it is among the largest. The caller must hold instances.
static void keep(struct cairn_evidence_instance *list, int64_t size, const struct cairn_evidence_row *row, uint64_t begin,
	const struct cairn_evidence_sums *one)
{
	struct cairn_evidence_instance *smallest = &list[0];

	if (size <= 0)
		return;
	for (int i = 1; i < CAIRN_EVIDENCE_INSTANCES; i++)
		if (atomic_load_explicit(&list[i].size, memory_order_relaxed) < atomic_load_explicit(&smallest->size, memory_order_relaxed))
			smallest = &list[i];
	if (size > atomic_load_explicit(&smallest->size, memory_order_relaxed)) {
		atomic_store_explicit(&smallest->size, 0, memory_order_release);
		atomic_thread_fence(memory_order_release);
		smallest->row = (uint64_t)(row - file->row);
		smallest->begin_ticks = begin;
		smallest->wall_ns = one->wall_ns;
		smallest->cpu_ns = one->cpu_ns;
		smallest->delay_ns = one->delay_ns;
		smallest->io_bytes = one->io_bytes;
		smallest->usage = one->usage;
		atomic_store_explicit(&smallest->size, size, memory_order_release);
	}
}

// measure takes the reading at the end of a long computation or call and adds the result. It
// reports whether some time is unexplained.
static bool measure(struct watch *w, struct cairn_evidence_row *row, uint64_t begin, uint64_t end, double ns)
{
	struct cairn_evidence_sums one = {.wall_ns = (int64_t)((double)(end - begin) * ns)};
	const bool close = w->quick.ticks <= begin + (end - begin) / 64 && (begin < w->quick.ticks || begin - w->quick.ticks <= (end - begin) / 4);
	if (!w->exact && !close)
		return false;
	const struct quick q = read_quick(w, false, ns);
	// A reading at the beginning that took much longer than usual was interrupted.
	const bool late = w->quick.ticks > begin && (double)(w->quick.ticks - begin) * ns >= WORST_NS + w->thorough_costs_ns;
	const int64_t passed = (int64_t)((double)(q.ticks - (late ? begin : w->quick.ticks)) * ns);
	const int64_t ran = q.cpu_ns - w->quick.cpu_ns;
	int64_t off = passed > ran ? least(passed - ran, one.wall_ns) : 0;
	int64_t other = difference(q.process_ns - w->quick.process_ns, ran);

	const double share = passed > one.wall_ns ? (double)one.wall_ns / (double)passed : 1; // nothing is known about the earlier part
	if (other > 0)
		other = (int64_t)(share * (double)other);
	one.usage = usage_between(q.usage, w->quick.usage, share);
	if (off < NEGLIGIBLE_NS)
		off = 0;
	const bool explain = off > 0 || other > one.wall_ns / 50;
	if (explain || w->thorough_at_begin) {
		const struct thorough r = read_thorough(w, ns);
		const struct thorough *b = &w->thorough;
		one.delay_ns = least(difference(r.delay_ns, b->delay_ns), off);
		if (off - (one.delay_ns > 0 ? one.delay_ns : 0) >= BLOCKED_NS)
			one.blocked_ns = off;
		// I/O since an older reading includes that of other computations.
		if (one.blocked_ns > 0 && (w->thorough_at_begin || end - b->ticks <= (end - begin) / 4 * 5)) {
			one.io_bytes = difference(r.io_bytes, b->io_bytes);
			one.io_calls = difference(r.io_calls, b->io_calls);
			one.seen_ns = off;
			if (one.io_bytes >= DATA_BYTES)
				one.data_ns = off - (one.delay_ns > 0 ? one.delay_ns : 0);
		}
		w->thorough = r;
	}
	if (w->thorough.delay_ns < 0)
		one.delay_ns = -1;
	if (w->thorough.io_bytes < 0)
		one.io_bytes = one.io_calls = one.seen_ns = one.data_ns = -1;
	one.cpu_ns = one.wall_ns - off;
	one.other_ns = other;
	w->quick = q;
	(void)drop_if_interrupted(w, q.ticks, ns);
	add(row, &one);
	if (cairn_rare_try(&instances)) { // or another thread changes them, and this one is lost
		keep(file->instances[0], off, row, begin, &one);
		keep(file->instances[1], one.wall_ns, row, begin, &one);
		cairn_rare_unlock(&instances);
	}
	return explain;
}

// expect_long notes whether the next computation after a call from a call site is expected to be
// long.
static void expect_long(struct cairn_thread *t, uint64_t caller, bool expected)
{
	const unsigned slot = CAIRN_LONG_SLOT(caller), bit = 1u << slot;

	t->long_after[slot] = expected ? caller : 0;
	t->long_slots = (uint16_t)(expected ? t->long_slots | bit : t->long_slots & ~bit);
}

uint64_t cairn_evidence_enter(struct cairn_thread *t, const struct cairn_call *call, uint64_t now)
{
	struct watch *w = &watch;
	const int saved = errno;
	const uint64_t began = now;
	double ns;

	if (t->depth != 1)
		return now;
	cairn_busy(t, t->frame[0]);
	const uint32_t untraced = atomic_load_explicit(&cairn_untraced, memory_order_relaxed);
	const bool known = start(t, w) && t->returned != 0 && now - t->returned >= t->long_ticks && w->untraced == untraced;
	w->untraced = untraced;
	if (known) {
		const struct cairn_evidence_row key = {
			.thread = cairn_thread_number() - 1, .after = t->last_function, .before = call->function,
			.after_caller = t->last_caller, .before_caller = call->caller,
		};
		struct cairn_evidence_row *row = find_row(&key);
		const uint16_t bit = (uint16_t)(1u << CAIRN_LONG_SLOT(t->last_caller));
		expect_long(t, t->last_caller, true);
		ns = tick_ns();
		if (row != NULL) {
			row->ticks += now - t->returned;
			const bool measurable = !w->unmeasured || (double)(now - t->returned) * ns >= EXCEPTION_NS;
			if (w->exact || (measurable && affordable(w, now, w->quick_costs_ns + w->thorough_costs_ns, ns))) {
				const uint64_t last = w->quick.ticks;
				const bool explain = measure(w, row, t->returned, now, ns);
				if (w->quick.ticks != last) // it was read
					w->explain = (uint16_t)((w->explain & ~bit) | (explain ? bit : 0));
				w->budget_ns -= cost_since(began, ns);
			}
		}
		now = cairn_now();
	}
	w->exact = false;
	cairn_idle(t);
	errno = saved;
	return now;
}

void cairn_evidence_exit(struct cairn_thread *t, const struct cairn_call *call, uint64_t now)
{
	struct watch *w = &watch;
	const int saved = errno;
	bool read = false;
	double ns;

	if (t->depth != 1 || !start(t, w))
		return;
	ns = tick_ns();
	t->expiry = now + (uint64_t)(EXPIRY_NS / ns);
	cairn_watch(now, ns);
	w->exact = w->thorough_at_begin = w->unmeasured = false;
	if (now - call->enter >= t->long_ticks) {
		const struct cairn_evidence_row key = {
			.thread = cairn_thread_number() - 1, .after = UINT16_MAX, .before = call->function, .before_caller = call->caller,
		};
		struct cairn_evidence_row *row = find_row(&key);
		if (row != NULL) {
			row->ticks += now - call->enter;
			if (affordable(w, now, w->quick_costs_ns + w->thorough_costs_ns, ns)) {
				const uint64_t last = w->quick.ticks;
				(void)measure(w, row, call->enter, now, ns);
				read = w->quick.ticks != last;
				w->exact = read && w->quick.ticks != 0;
			}
		}
	}
	// Is a long computation expected? The call site is forgotten here, and remembered again if the
	// computation is long.
	const bool expected = cairn_expects_long(t, call->caller);
	if (expected)
		expect_long(t, call->caller, false);
	const bool explain = expected && (w->explain >> CAIRN_LONG_SLOT(call->caller) & 1) != 0;
	bool dropped = read && !w->exact;
	const bool quick = !read && affordable(w, now, 2 * w->quick_costs_ns + (explain ? 2 * w->thorough_costs_ns : 0), ns);
	w->exact = w->exact || quick;
	if (w->exact && (explain || affordable(w, now, 2 * w->thorough_costs_ns, ns))) {
		w->thorough = read_thorough(w, ns);
		w->thorough_at_begin = true;
		dropped = drop_if_interrupted(w, quick ? now : w->quick.ticks, ns);
		read = true;
	}
	if (quick && !dropped) {
		w->quick = read_quick(w, true, ns);
		read = true;
	}
	w->unmeasured = dropped || (expected && !w->exact);
	if (read)
		w->budget_ns -= cost_since(now, ns);
	errno = saved;
}
