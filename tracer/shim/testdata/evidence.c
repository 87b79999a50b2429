// Driver for the parts of evidence.c and usage.c that no MPI program can be made to run. CAIRN_PROC may be a test's
// directory.
//
//	evidence kill FILE         instances without end; count, wall and CPU time grow together
//	evidence gap FILE MS KIND  thirty times a computation of MS ms: burn, sleep, closed (sleep, all descriptors closed),
//	                           touch (sleep, and touch 512 new pages), system (burn in system calls), refused (sleep,
//	                           without getrusage), data (sleep, and read 64 KiB each time), once (1 MiB, only each tenth time)
//	evidence end FILE MS       a list of threads, then a computation of MS ms, and the list at the end
//	evidence cost FILE N       ns of a quick reading, and thereof of its getrusage, means of N
//	evidence full FILE         more rows than there is room for
#include "../evidence/evidence.c"
#include "../process/opened.c"
#include "../process/uninterrupted.c"
#include "../evidence/usage.c"
#include "../process/thread.c"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>

bool cairn_clock_is_tsc;

void cairn_watch(uint64_t now, double tick_ns)
{
	(void)now, (void)tick_ns; // the test decides when
}

_Atomic int cairn_state = CAIRN_ON;
static const char *path;

void *cairn_observed(size_t part, size_t size)
{
	int opened = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	(void)part;
	if (opened < 0 || ftruncate(opened, (off_t)size) != 0)
		return NULL;
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
}

// call makes a call from a call site, as cairn_enter and cairn_exit do.
static void call(uint16_t function, uint64_t caller)
{
	struct cairn_thread *t = &cairn_self;
	struct cairn_call c = {.caller = caller, .function = function};

	t->depth = 1;
	uint64_t now = cairn_now();
	if (now - t->returned >= t->long_ticks)
		now = cairn_evidence_enter(t, &c, now);
	c.enter = now;
	now = cairn_now();
	if (now - c.enter >= t->long_ticks || now >= t->expiry || cairn_expects_long(t, caller))
		cairn_evidence_exit(t, &c, now);
	t->returned = now;
	t->last_caller = caller;
	t->last_function = function;
	t->depth = 0;
}

static void read_bytes(size_t n)
{
	static char bytes[1 << 20];
	const int opened = open("/dev/zero", O_RDONLY);

	if (opened < 0 || read(opened, bytes, n) != (ssize_t)n)
		_exit(5);
	close(opened);
}

static void touch_pages(void)
{
	enum { PAGES = 512, PAGE = 4096 };
	char *new = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (new == MAP_FAILED)
		_exit(6);
	madvise(new, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)new)[i * PAGE] = 1;
	munmap(new, PAGES * PAGE);
}

// refuse makes getrusage fail from now on.
static void refuse(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		_exit(7);
}

// spin computes for about a CPU time without any system call.
static void spin(int64_t ns)
{
	static double a_turn;
	static volatile double sum;
	const double turns = 2e6;

	if (a_turn == 0) {
		const uint64_t began = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (double i = 0; i < turns; i++)
			sum += i;
		a_turn = (double)(cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / turns;
	}
	for (double i = 0; i < (double)ns / a_turn; i++)
		sum += i;
}

static void pass(const char *kind, int64_t ns)
{
	static int times;
	const struct timespec all = {ns / 1000000000, ns % 1000000000};

	times++;
	if (strcmp(kind, "data") == 0)
		read_bytes(64 << 10);
	else if (strcmp(kind, "once") == 0 && times % 10 == 2)
		read_bytes(1 << 20);
	else if (strcmp(kind, "touch") == 0)
		touch_pages();
	const bool system = strcmp(kind, "system") == 0;
	if (strcmp(kind, "spin") == 0)
		spin(ns);
	else if (strcmp(kind, "burn") != 0 && !system)
		nanosleep(&all, NULL);
	else
		for (const uint64_t until = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)ns; cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until;)
			if (system)
				read_bytes(64 << 10);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	path = argv[2];
	cairn_evidence_begin();
	pass("sleep", 3000000); // the clock is known
	if (strcmp(argv[1], "kill") == 0) {
		const struct cairn_evidence_row key = {.before = 1};
		struct cairn_evidence_row *row = find_row(&key);
		for (;;)
			add(row, &(struct cairn_evidence_sums){.count = 1, .wall_ns = 1000, .cpu_ns = 1000, .io_bytes = 5});
	} else if (strcmp(argv[1], "gap") == 0) {
		const int times = argc > 5 ? atoi(argv[5]) : 30; // if readings take long, most computations are not measured
		if (strcmp(argv[4], "refused") == 0)
			refuse();
		for (int i = 0; i < times; i++) {
			call(1, 0x1000);
			if (strcmp(argv[4], "closed") == 0)
				for (int k = 3; k < 1024; k++)
					close(k);
			pass(argv[4], atoll(argv[3]) * 1000000);
			errno = 4242;
			call(2, 0x2000);
			if (errno != 4242)
				return 3;
		}
		due = 0;
		cairn_usage_watch();
	} else if (strcmp(argv[1], "end") == 0) {
		due = 0;
		cairn_usage_watch();
		due = UINT64_MAX; // no call looks at the threads again
		pass("burn", atoll(argv[3]) * 1000000);
		errno = 4242;
		cairn_usage_end();
		if (errno != 4242)
			return 3;
		cairn_state = CAIRN_OFF;
		pass("burn", atoll(argv[3]) * 1000000);
		cairn_usage_end(); // of a child, say
	} else if (strcmp(argv[1], "cost") == 0) {
		const uint64_t n = (uint64_t)atoll(argv[3]), began = cairn_clock_ns(CLOCK_MONOTONIC);
		for (uint64_t i = 0; i < n; i++)
			(void)read_quick(&watch, true, 1);
		const uint64_t middle = cairn_clock_ns(CLOCK_MONOTONIC);
		for (uint64_t i = 0; i < n; i++)
			(void)read_usage();
		printf("%f %f", (double)(middle - began) / (double)n, (double)(cairn_clock_ns(CLOCK_MONOTONIC) - middle) / (double)n);
	} else if (strcmp(argv[1], "full") == 0) {
		for (uint64_t i = 0; i < 2 * CAIRN_EVIDENCE_ROWS; i++) {
			const struct cairn_evidence_row key = {.before_caller = i};
			struct cairn_evidence_row *row = find_row(&key), *again = find_row(&key);
			if (row != again || (row == NULL) != (i >= CAIRN_EVIDENCE_ROWS))
				return 4;
		}
	}
	return 0;
}
