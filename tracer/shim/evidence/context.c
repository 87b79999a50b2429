// Samples are taken at the start, then every INTERVAL. The file keeps MOST of them; when there are as many, every second
// one goes and the interval doubles: a program of a second is seen in detail, one of a day costs as many samples as there
// are doublings times sixteen. Nobody tells us that the program ends, so the last interval is not seen: at most a sixteenth
// of the run, or 100 ms.
//
// The file is mapped, and what is in it is whole at any moment: a sample counts once the number of samples has been stored,
// and what is left of too many goes to the other of two tables before that is the one that counts.
#include "context.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../process/clock.h"
#include "observed.h"
#include "opened.h"

enum { MOST = CAIRN_CONTEXT_SAMPLES };
static const uint64_t INTERVAL = 100000000;

struct sample {
	int64_t monotonic_ns, cpu_ns, voluntary, involuntary, throttled_periods, throttled_ns, cpu, run_delay_ns, steal_ns;
};
CAIRN_LAYOUT_CONTEXT_SAMPLE(struct sample);

// tracer/recorder/observed/context.go reads it.
struct file {
	char magic[8];
	_Atomic uint64_t count; // samples | table << 32
	struct sample table[2][MOST];
};
CAIRN_LAYOUT_CONTEXT(struct file);

static struct file *file; // NULL: there is none, and the trace will have no context
static uint64_t due, interval = INTERVAL;
static struct cairn_opened main_stat = {-1, 0, 0}, main_schedstat = {-1, 0, 0}, throttling_stat = {-1, 0, 0};
static char throttling[4096]; // cpu.stat of the cgroup that has a CPU limit, "": none

// The machine's steal. The kernel prints all CPUs and interrupts of the machine for it, which takes long where there are
// many: so it is read as often as that takes a PART-th of the time of a CPU, and samples between two readings have the earlier
// one. Those between the first and the second reading have none: nothing is known yet of what came after the beginning.
static const uint64_t PART = 10000;
static const char *machine_stat = "/proc/stat"; // tests have another one
static struct {
	uint64_t due;
	int64_t begin_ns, latest_ns; // −1: not known
} steal = {.begin_ns = -1, .latest_ns = -1};

// read_small reads a file of the kernel's, which comes in one piece.
static char *read_small(const char *path, char *text, size_t size)
{
	int opened = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = opened < 0 ? -1 : read(opened, text, size - 1);
	if (opened >= 0)
		close(opened);
	if (n < 0)
		return NULL;
	text[n] = 0;
	return text;
}

// read_opened reads a file that is kept open, or opens it for once where that is not so any more.
static char *read_opened(struct cairn_opened *o, const char *path, char *text, size_t size)
{
	return cairn_read_again(o, text, size) > 0 ? text : read_small(path, text, size);
}

// last_cpu is field 39 of a thread's stat, -1 where there is none. The second field may hold anything.
static int64_t last_cpu(const char *stat)
{
	const char *at = strrchr(stat, ')');
	for (int field = 2; at != NULL && field < 39; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoll(at + 1, NULL, 10) : -1;
}

// counted reads a line of cpu.stat, -1 where there is none.
static int64_t counted(const char *stat, const char *name)
{
	const size_t n = strlen(name);
	for (const char *line = stat; line != NULL && *line != 0; line = strchr(line, '\n'), line += line != NULL)
		if (strncmp(line, name, n) == 0 && line[n] == ' ')
			return strtoll(line + n, NULL, 10);
	return -1;
}

// read_throttling reads cpu.stat: microseconds in version 2 of cgroups, nanoseconds in version 1.
static void read_throttling(const char *path, struct cairn_opened *o, struct sample *s)
{
	char text[2048];

	s->throttled_periods = s->throttled_ns = -1;
	if (path[0] == 0 || read_opened(o, path, text, sizeof(text)) == NULL)
		return;
	const int64_t us = counted(text, "throttled_usec");
	s->throttled_periods = counted(text, "nr_throttled");
	s->throttled_ns = us >= 0 ? us * 1000 : counted(text, "throttled_time");
}

// has_cpu reports whether a list of controllers names that of the CPU.
static bool has_cpu(const char *list)
{
	for (const char *c = list; c != NULL; c = strchr(c, ','), c += c != NULL)
		if (strncmp(c, "cpu", 3) == 0 && (c[3] == ',' || c[3] == 0))
			return true;
	return false;
}

// find_below looks for a cpu.stat that counts throttling in a cgroup, else in the nearest of those around it.
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

// find_throttling finds the cpu.stat that counts throttling for the cgroups of a process. In a container the mount may begin
// at the container's own cgroup, whatever path /proc gives.
static void find_throttling(const char *cgroups, const char *mount, char *path, size_t size)
{
	char text[8192], *rest = NULL;

	path[0] = 0;
	if (read_small(cgroups, text, sizeof(text)) == NULL)
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

// run_delay is the second number of a thread's schedstat: for how long, in ns, it was ready to run and waited for a CPU. 0
// where the kernel does not count it.
static int64_t run_delay(const char *schedstat)
{
	const char *at = strchr(schedstat, ' ');
	return at != NULL ? strtoll(at + 1, NULL, 10) : 0;
}

// stolen_ns is the eighth number in the first line of /proc/stat: for how long, of all CPUs together, the hypervisor ran other
// machines while this one had something to run. −1 where there is none, or where all numbers are 0, as in gVisor: nothing
// is counted there.
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

// read_steal reads the steal if that is due, and is what is known of it.
static int64_t read_steal(uint64_t now)
{
	char text[1024];
	const uint64_t began = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now < steal.due)
		return steal.latest_ns;
	const int64_t ns = read_small(machine_stat, text, sizeof(text)) != NULL ? stolen_ns(text) : -1;
	steal.due = now + PART * (cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
	if (steal.begin_ns < 0) { // the first sample
		steal.begin_ns = ns;
		if (ns < 0)
			steal.due = UINT64_MAX;
		return ns < 0 ? -1 : 0;
	}
	if (ns >= 0 && ns - steal.begin_ns > steal.latest_ns) // a machine that moved may count from anew
		steal.latest_ns = ns - steal.begin_ns;
	return steal.latest_ns;
}

// task_path is that of a file of the main thread: /proc/self/stat would add up all threads first.
static void task_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/proc/self/task/%d/%s", (int)getpid(), name);
}

static void read_sample(struct sample *s)
{
	char path[64], text[2048];
	struct rusage u;

	memset(s, 0, sizeof(*s));
	s->monotonic_ns = (int64_t)cairn_clock_ns(CLOCK_MONOTONIC);
	if (getrusage(RUSAGE_SELF, &u) == 0) {
		s->cpu_ns = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
		s->voluntary = u.ru_nvcsw;
		s->involuntary = u.ru_nivcsw;
	}
	task_path(path, sizeof(path), "stat");
	s->cpu = read_opened(&main_stat, path, text, sizeof(text)) != NULL ? last_cpu(text) : -1;
	task_path(path, sizeof(path), "schedstat");
	s->run_delay_ns = read_opened(&main_schedstat, path, text, sizeof(text)) != NULL ? run_delay(text) : 0;
	read_throttling(throttling, &throttling_stat, s);
	s->steal_ns = read_steal((uint64_t)s->monotonic_ns);
}

static void add(const struct sample *s)
{
	const uint64_t count = atomic_load_explicit(&file->count, memory_order_relaxed);
	uint64_t n = count & UINT32_MAX, table = count >> 32;

	if (n == MOST) {
		for (n = 0; n < MOST / 2; n++)
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
