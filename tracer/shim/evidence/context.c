// Samples are taken at the start, then every INTERVAL at most (watch.h). The file keeps up to
// MAX_SAMPLES of them. When it is full, every second sample is dropped and the interval doubles. So
// a program of a second is seen in detail, and the number of samples grows only with the logarithm
// of the duration. Nothing announces the end of the program, so what follows the last sample is
// missing: a sixteenth of the run or 100 ms, or a longer computation or call at its end.
//
// The file is mapped, and consistent at any time: a sample is valid once the number of
// samples has been stored. Samples are thinned out into the other of two tables before that
// becomes the valid one.
#include "context.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../process/clock.h"
#include "../process/opened.h"
#include "kernel_file.h"
#include "observed.h"

enum { MAX_SAMPLES = CAIRN_CONTEXT_SAMPLES };
static const uint64_t INTERVAL = 100000000;

struct sample {
	int64_t monotonic_ns, cpu_ns, voluntary, involuntary, throttled_periods, throttled_ns, cpu, run_delay_ns, steal_ns;
};
CAIRN_LAYOUT_CONTEXT_SAMPLE(struct sample);

// Format read by tracer/recorder/observed/context.go.
struct file {
	char magic[8];
	_Atomic uint64_t count; // samples | table << 32
	struct sample table[2][MAX_SAMPLES];
};
CAIRN_LAYOUT_CONTEXT(struct file);

static struct file *file; // NULL: there is none, and the trace has no context
static uint64_t due, interval = INTERVAL;
static struct cairn_opened main_stat = {-1, 0, 0}, main_schedstat = {-1, 0, 0}, throttling_stat = {-1, 0, 0};
static char throttling[4096]; // cpu.stat of the cgroup with a CPU limit, "": none

// The machine's steal time. To print it the kernel sums up all CPUs and interrupts, which takes
// long on large machines. So it is read only as often as takes a PART-th of the time, and samples
// between two readings have the value of the earlier one. Samples between the first and the second
// reading have none, since the change since the first one is not known yet.
static const uint64_t PART = 100000;
static const char *machine_stat = "/proc/stat"; // changed in tests
static struct {
	uint64_t due;
	int64_t begin_ns, latest_ns; // −1: not known
} steal = {.begin_ns = -1, .latest_ns = -1};

// One thread at a time takes a sample. Texts are static, since threads may have small stacks.

// last_cpu returns field 39 of a thread's stat, -1 if there is none. The second field
// is arbitrary text.
static int64_t last_cpu(const char *stat)
{
	const char *at = strrchr(stat, ')');
	for (int field = 2; at != NULL && field < 39; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoll(at + 1, NULL, 10) : -1;
}

// read_throttling reads cpu.stat: microseconds in version 2 of cgroups, nanoseconds in version 1.
static void read_throttling(const char *path, struct cairn_opened *o, struct sample *s)
{
	static char text[2048];

	s->throttled_periods = s->throttled_ns = -1;
	if (path[0] == 0 || cairn_read_opened(o, path, text, sizeof(text)) == NULL)
		return;
	const int64_t us = cairn_line_of(text, "throttled_usec");
	s->throttled_periods = cairn_line_of(text, "nr_throttled");
	s->throttled_ns = us >= 0 ? us * 1000 : cairn_line_of(text, "throttled_time");
}

// has_cpu reports whether a list of controllers contains cpu.
static bool has_cpu(const char *list)
{
	for (const char *c = list; c != NULL; c = strchr(c, ','), c += c != NULL)
		if (strncmp(c, "cpu", 3) == 0 && (c[3] == ',' || c[3] == 0))
			return true;
	return false;
}

// find_below looks for a cpu.stat with throttling in a cgroup, then in its ancestors.
static bool find_below(const char *mount, const char *controllers, const char *group, char *path, size_t size)
{
	char within[2048];

	snprintf(within, sizeof(within), "%s", group);
	for (;;) {
		struct sample s;
		char *slash = strrchr(within, '/');
		if (slash != NULL && slash[1] == 0)
			*slash = 0; // the root is ""
		snprintf(path, size, "%s%s%s%s/cpu.stat", mount, controllers[0] != 0 ? "/" : "", controllers, within);
		read_throttling(path, &throttling_stat, &s);
		if (s.throttled_periods >= 0)
			return true;
		slash = strrchr(within, '/');
		if (slash == NULL)
			return false;
		*slash = 0;
	}
}

// find_throttling finds the cpu.stat with the throttling of a process's cgroups. In a container the
// mount may begin at the container's own cgroup, whatever path /proc shows.
static void find_throttling(const char *cgroups, const char *mount, char *path, size_t size)
{
	char text[8192], *rest = NULL;

	path[0] = 0;
	if (cairn_read_small(cgroups, text, sizeof(text)) == NULL)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		if (group == NULL)
			continue;
		*controllers++ = 0;
		*group++ = 0;
		if (controllers[0] != 0 && !has_cpu(controllers))
			continue;
		if (find_below(mount, controllers, group, path, size) ||
		    (controllers[0] != 0 && find_below(mount, "cpu", group, path, size)))
			return;
	}
	path[0] = 0;
}

// run_delay returns the second number of a thread's schedstat: the time in ns that it was ready to
// run and waited for a CPU; 0 if the kernel does not count it.
static int64_t run_delay(const char *schedstat)
{
	const char *at = strchr(schedstat, ' ');
	return at != NULL ? strtoll(at + 1, NULL, 10) : 0;
}

// stolen_ns returns the eighth number in the first line of /proc/stat: the time, summed over all
// CPUs, that the hypervisor ran other machines while this one had something to run. It returns −1
// if there is none, or if all numbers are 0, as in gVisor, which counts nothing.
static int64_t stolen_ns(const char *stat)
{
	int64_t value = -1;
	bool counts = false;

	if (strncmp(stat, "cpu ", 4) != 0)
		return -1;
	stat += 3;
	for (int field = 0; field < 8; field++) {
		stat += strspn(stat, " ");
		if (*stat < '0' || *stat > '9')
			return -1;
		char *rest;
		value = strtoll(stat, &rest, 10);
		counts = counts || value > 0;
		stat = rest;
	}
	if (!counts || (*stat != ' ' && *stat != '\n' && *stat != 0) || value > INT64_MAX / 1000000000)
		return -1;
	return value * 1000000000 / sysconf(_SC_CLK_TCK);
}

// read_steal reads the steal time if a reading is due, and returns the latest value.
static int64_t read_steal(uint64_t now)
{
	static char text[1024];
	const uint64_t began = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now < steal.due)
		return steal.latest_ns;
	const int64_t ns = cairn_read_small(machine_stat, text, sizeof(text)) != NULL ? stolen_ns(text) : -1;
	steal.due = now + PART * (cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
	if (steal.begin_ns < 0) { // the first sample
		steal.begin_ns = ns;
		if (ns < 0)
			steal.due = UINT64_MAX;
		return ns < 0 ? -1 : 0;
	}
	if (ns >= 0 && ns - steal.begin_ns > steal.latest_ns) // a migrated machine may start again from 0
		steal.latest_ns = ns - steal.begin_ns;
	return steal.latest_ns;
}

// task_path returns the path of a file of the main thread: /proc/self/stat would sum up
// all threads first.
static void task_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/proc/self/task/%d/%s", (int)getpid(), name);
}

static void read_sample(struct sample *s)
{
	static char text[2048];
	char path[64];
	struct rusage u;

	memset(s, 0, sizeof(*s));
	s->monotonic_ns = (int64_t)cairn_clock_ns(CLOCK_MONOTONIC);
	if (getrusage(RUSAGE_SELF, &u) == 0) {
		s->cpu_ns = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
		s->voluntary = u.ru_nvcsw;
		s->involuntary = u.ru_nivcsw;
	}
	task_path(path, sizeof(path), "stat");
	s->cpu = cairn_read_opened(&main_stat, path, text, sizeof(text)) != NULL ? last_cpu(text) : -1;
	task_path(path, sizeof(path), "schedstat");
	s->run_delay_ns = cairn_read_opened(&main_schedstat, path, text, sizeof(text)) != NULL ? run_delay(text) : 0;
	read_throttling(throttling, &throttling_stat, s);
	s->steal_ns = read_steal((uint64_t)s->monotonic_ns);
}

static void add(const struct sample *s)
{
	const uint64_t count = atomic_load_explicit(&file->count, memory_order_relaxed);
	uint64_t n = count & UINT32_MAX, table = count >> 32;

	if (n == MAX_SAMPLES) {
		for (n = 0; n < MAX_SAMPLES / 2; n++)
			file->table[1 - table][n] = file->table[table][2 * n];
		table = 1 - table;
		interval *= 2;
	}
	file->table[table][n] = *s;
	atomic_store_explicit(&file->count, (n + 1) | table << 32, memory_order_release);
}

void cairn_context_begin(void)
{
	char path[64];

	find_throttling("/proc/self/cgroup", "/sys/fs/cgroup", throttling, sizeof(throttling));
	file = cairn_observed(CAIRN_OBSERVED_CONTEXT, sizeof(*file));
	if (file == NULL)
		return;
	memcpy(file->magic, CAIRN_CONTEXT_MAGIC, sizeof(file->magic));
	task_path(path, sizeof(path), "stat");
	cairn_open_file(&main_stat, path);
	task_path(path, sizeof(path), "schedstat");
	cairn_open_file(&main_schedstat, path);
	cairn_open_file(&throttling_stat, throttling);
	cairn_context_watch();
}

uint64_t cairn_context_watch(void)
{
	struct sample s;
	const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);

	if (file == NULL)
		return UINT64_MAX / 2;
	if (now < due)
		return due - now;
	read_sample(&s);
	add(&s);
	due = now + interval;
	return interval;
}
