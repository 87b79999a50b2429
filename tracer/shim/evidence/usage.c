// A thread that calls MPI now and then lists the threads in /proc/self/task: the more threads there
// are the less often, so that it takes at most a PART-th of its time. The file has name, CPU time and
// run delay of the MAX_THREADS threads that used most. The thread that finalizes MPI makes the list
// once more, since a short run would only have the list of its beginning.
#include "usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../process/clock.h"
#include "../process/state.h"
#include "evidence.h"

#ifndef CAIRN_PROC
#define CAIRN_PROC "/proc"
#endif

enum {
	MAX_THREADS = CAIRN_EVIDENCE_THREADS,
	RECENT = 16, // at MPI_Finalize a list from the last RECENT-th of the run is good enough
};
static const uint64_t FIRST = 1000000000; // ns until the first list; a shorter run has only the list of its end
static const uint64_t EVERY = 100000000;
static const uint64_t PART = 100000;

static struct cairn_evidence_file *file;
static uint64_t began, listed; // times of the start and of the last list
static uint64_t due;
static _Atomic int callers[CAIRN_EVIDENCE_TASKS];

// cpu_of reads the CPU clock of a thread of this process by the kernel's number for it
// (include/linux/posix-timers.h).
static int64_t cpu_of(int tid)
{
	struct timespec t;
	const clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);

	return clock_gettime(clock, &t) == 0 ? (int64_t)t.tv_sec * 1000000000 + t.tv_nsec : -1;
}

void cairn_usage_calls_mpi(uint32_t number, int tid)
{
	if (number <= CAIRN_EVIDENCE_TASKS)
		atomic_store(&callers[number - 1], tid);
}

static bool calls_mpi(int tid)
{
	for (int i = 0; i < CAIRN_EVIDENCE_TASKS; i++)
		if (atomic_load_explicit(&callers[i], memory_order_relaxed) == tid)
			return true;
	return false;
}

static ssize_t read_of(int tid, const char *name, char *text, size_t size)
{
	char path[64];
	int opened;
	ssize_t n;

	snprintf(path, sizeof(path), CAIRN_PROC "/self/task/%d/%s", tid, name);
	opened = open(path, O_RDONLY | O_CLOEXEC);
	n = opened < 0 ? -1 : read(opened, text, size - 1);
	if (opened >= 0)
		close(opened);
	text[n > 0 ? n : 0] = 0;
	return n;
}

// describe adds a thread's name and run delay.
static void describe(struct cairn_evidence_thread *t)
{
	char text[128], *rest;

	memset(t->name, 0, sizeof(t->name));
	if (read_of((int)t->tid, "comm", text, sizeof(text)) > 0) {
		text[strcspn(text, "\n")] = 0;
		memcpy(t->name, text, strnlen(text, sizeof(t->name) - 1));
	}
	t->delay_ns = -1;
	if (read_of((int)t->tid, "schedstat", text, sizeof(text)) > 0 && strtoll(text, &rest, 10) > 0 && *rest == ' ')
		t->delay_ns = strtoll(rest, NULL, 10);
	t->flags = calls_mpi((int)t->tid) ? 1 : 0;
}

// insert keeps the threads that used most, in descending order.
static int insert(struct cairn_evidence_thread *list, int n, int tid, int64_t cpu_ns)
{
	int at = n < MAX_THREADS ? n : MAX_THREADS - 1;

	if (n == MAX_THREADS && cpu_ns <= list[at].cpu_ns)
		return n;
	for (; at > 0 && list[at - 1].cpu_ns < cpu_ns; at--)
		list[at] = list[at - 1];
	list[at] = (struct cairn_evidence_thread){.tid = tid, .cpu_ns = cpu_ns};
	return n < MAX_THREADS ? n + 1 : n;
}

struct entry { // of getdents64: nothing here allocates
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

// list_threads fills the list and returns its length.
static int list_threads(struct cairn_evidence_thread *list)
{
	static _Alignas(8) char entries[32768];
	const int directory = open(CAIRN_PROC "/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int n = 0;
	long size;

	if (directory < 0)
		return 0;
	while ((size = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0)
		for (long at = 0; at < size;) {
			const struct entry *e = (const struct entry *)(const void *)(entries + at);
			const int tid = atoi(e->name);
			const int64_t cpu_ns = tid > 0 ? cpu_of(tid) : -1;
			at += e->length;
			if (cpu_ns >= 0)
				n = insert(list, n, tid, cpu_ns);
		}
	close(directory);
	return n;
}

void cairn_usage_begin(struct cairn_evidence_file *to)
{
	file = to;
	began = cairn_clock_ns(CLOCK_MONOTONIC);
	due = began + FIRST;
}

// list writes a list and computes when the next one is due.
static void list(uint64_t now)
{
	const uint64_t before = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID), table = atomic_load(&file->threads) >> 32 ^ 1;
	struct cairn_evidence_thread *threads = file->thread[table & 1];
	const int n = list_threads(threads);

	for (int i = 0; i < n; i++)
		describe(&threads[i]);
	atomic_store_explicit(&file->threads, (uint64_t)n | (table & 1) << 32, memory_order_release);
	const uint64_t wait = PART * (cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	due = now + (wait > EVERY ? wait : EVERY);
	listed = now;
}

uint64_t cairn_usage_watch(void)
{
	const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);

	if (file == NULL)
		return UINT64_MAX / 2;
	if (now >= due)
		list(now);
	return due - now;
}

void cairn_usage_end(void)
{
	const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);
	const int saved = errno;

	if (file != NULL && atomic_load(&cairn_state) == CAIRN_ON && now - listed > (now - began) / RECENT)
		list(now);
	errno = saved;
}
