// The files are read once at the start, and then as often as that takes a PART-th of the time: the
// kernel sums up all CPUs to print a pressure.
//
// Pressure is that of the process's own cgroup of version 2, which a kernel with both versions has
// beside those of version 1. That of the root is the machine's, and does not count. A limit that is
// reached is counted where it is set: the nearest one counts.
#include "pressure.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../process/clock.h"
#include "../process/opened.h"
#include "../process/state.h"
#include "kernel_file.h"
#include "observed.h"
#include "sockets.h"

enum { PATH = 1024 };
static const uint64_t EVERY = 100000000; // ns: the least time between two readings
static const uint64_t PART = 100000;
static const uint64_t RECENT = 16; // at the end a reading from the last RECENT-th of the run is good enough

enum { MEMORY, IO, LIMIT, COUNTERS };

// Format read by tracer/recorder/observed/pressure.go.
struct pressure {
	char magic[8];
	_Atomic int64_t memory_ns, io_ns, memory_limit_hits, segments, retransmits;
};
CAIRN_LAYOUT_PRESSURE(struct pressure);

static struct pressure *file; // NULL: nothing is read
static uint64_t began, latest, due;
static struct {
	char path[PATH + 32]; // "": there is none
	struct cairn_opened opened;
	int64_t begin; // −1: not known
	_Atomic int64_t *since; // what was counted since then, in the file
} counter[COUNTERS];

// Memory cgroups of one version.
struct version {
	const char *limits[2], *hits;
};
static const struct version V1 = {{"memory.limit_in_bytes", NULL}, "memory.failcnt"};
static const struct version V2 = {{"memory.max", "memory.high"}, "memory.events"};

// stalled_ns returns the time for which at least one process waited, of a text with µs such as
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1346174".
static int64_t stalled_ns(const char *text)
{
	const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, " total=") : NULL;
	const int64_t us = total != NULL ? strtoll(total + 7, NULL, 10) : -1;

	return us >= 0 && us <= INT64_MAX / 1000 ? us * 1000 : -1;
}

// limit_hits returns how often a limit of memory was reached, of the text of either version.
static int64_t limit_hits(const char *text)
{
	const int64_t high = cairn_line_of(text, "high"), max = cairn_line_of(text, "max");

	if (text[0] >= '0' && text[0] <= '9')
		return strtoll(text, NULL, 10);
	return high >= 0 && max >= 0 && high <= INT64_MAX - max ? high + max : -1;
}

static int64_t value_of(int what, const char *text) { return what == LIMIT ? limit_hits(text) : stalled_ns(text); }

// read_value returns the value of a counter, −1 if it is not known.
static int64_t read_value(int what, const char *path, struct cairn_opened *o)
{
	static char text[1024];

	return path[0] != 0 && cairn_read_opened(o, path, text, sizeof(text)) != NULL ? value_of(what, text) : -1;
}

static int64_t value_at(int what, const char *folder, const char *name)
{
	char path[PATH + 32];
	struct cairn_opened none = {-1, 0, 0};

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return read_value(what, path, &none);
}

// is_limited reports whether a cgroup has a limit of memory. Without one, version 2 has the word
// "max" and version 1 almost 2^63.
static bool is_limited(const char *folder, const struct version *v)
{
	char path[PATH + 32], text[64];

	for (int i = 0; i < 2 && v->limits[i] != NULL; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, v->limits[i]);
		if (cairn_read_small(path, text, sizeof(text)) != NULL && text[0] >= '0' && text[0] <= '9' &&
		    strtoull(text, NULL, 10) < UINT64_C(1) << 62)
			return true;
	}
	return false;
}

// ascend leads to the parent of a cgroup; false at the mount.
static bool ascend(const char *mount, char *folder)
{
	char *slash = strrchr(folder, '/');

	if (strlen(folder) <= strlen(mount) || slash == NULL)
		return false;
	*slash = 0;
	return true;
}

static void folder_of(char *folder, const char *mount, const char *group)
{
	snprintf(folder, PATH, "%s%s", mount, group);
	if (folder[0] != 0 && folder[strlen(folder) - 1] == '/')
		folder[strlen(folder) - 1] = 0;
}

// find_limit finds the counter of the nearest limit, or that of the cgroup itself if there is none.
// In a container the mount may begin at the container's own cgroup, whatever path /proc shows.
static void find_limit(const char *mount, const char *group, const struct version *v)
{
	char folder[PATH];

	folder_of(folder, mount, group);
	do {
		if (value_at(LIMIT, folder, v->hits) < 0)
			continue;
		const bool limited = is_limited(folder, v);
		if (limited || counter[LIMIT].path[0] == 0)
			snprintf(counter[LIMIT].path, sizeof(counter[LIMIT].path), "%s/%s", folder, v->hits);
		if (limited)
			return;
	} while (ascend(mount, folder));
}

// find_pressure finds the pressure of a cgroup. Only the root has no cgroup.events.
static void find_pressure(const char *mount, const char *group)
{
	static const char *const names[] = {[MEMORY] = "memory.pressure", [IO] = "io.pressure"};
	char folder[PATH], events[PATH + 32], text[256];

	folder_of(folder, mount, group);
	do {
		snprintf(events, sizeof(events), "%s/cgroup.events", folder);
		if (cairn_read_small(events, text, sizeof(text)) == NULL)
			continue;
		for (int what = MEMORY; what <= IO; what++)
			if (value_at(what, folder, names[what]) >= 0)
				snprintf(counter[what].path, sizeof(counter[what].path), "%s/%s", folder, names[what]);
		return;
	} while (ascend(mount, folder));
}

// find_counters finds the files of a process's cgroups, each of which has a line: "7:memory:/path"
// in version 1, "0::/path" in version 2.
static void find_counters(const char *cgroups, const char *root)
{
	char text[8192], mount[PATH], *rest = NULL;

	if (cairn_read_small(cgroups, text, sizeof(text)) == NULL)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		char *controllers = strchr(line, ':'), *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		if (group == NULL)
			continue;
		*group++ = 0;
		if (strcmp(++controllers, "memory") == 0) {
			snprintf(mount, sizeof(mount), "%s/memory", root);
			find_limit(mount, group, &V1);
		} else if (controllers[0] == 0) {
			for (int i = 0; i < 2; i++) {
				snprintf(mount, sizeof(mount), "%s%s", root, i == 0 ? "" : "/unified");
				if (counter[MEMORY].path[0] == 0)
					find_pressure(mount, group);
				if (counter[LIMIT].path[0] == 0)
					find_limit(mount, group, &V2);
			}
		}
	}
}

// read_sockets counts what was sent. A connection that is closed is not counted any more, so that the
// largest numbers are kept.
static void read_sockets(void)
{
	struct cairn_traffic t;

	if (!cairn_read_sockets(&t) || t.segments < atomic_load(&file->segments))
		return;
	atomic_store_explicit(&file->segments, t.segments, memory_order_relaxed);
	atomic_store_explicit(&file->retransmits, t.retransmits, memory_order_relaxed);
}

// read_counters reads all counters.
static void read_counters(uint64_t now)
{
	const uint64_t before = cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < COUNTERS; i++) {
		const int64_t value = counter[i].begin < 0 ? -1 : read_value(i, counter[i].path, &counter[i].opened);
		if (value >= counter[i].begin && value >= 0) // the file of another cgroup cannot be in its place
			atomic_store_explicit(counter[i].since, value - counter[i].begin, memory_order_relaxed);
	}
	read_sockets();
	const uint64_t wait = PART * (cairn_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before);
	latest = now;
	due = now + (wait > EVERY ? wait : EVERY);
}

static void begin_counting(void)
{
	for (int i = 0; i < COUNTERS; i++) {
		cairn_open_file(&counter[i].opened, counter[i].path);
		counter[i].begin = read_value(i, counter[i].path, &counter[i].opened);
	}
	file = cairn_observed(CAIRN_OBSERVED_PRESSURE, sizeof(*file));
	if (file == NULL)
		return;
	counter[MEMORY].since = &file->memory_ns;
	counter[IO].since = &file->io_ns;
	counter[LIMIT].since = &file->memory_limit_hits;
	for (int i = 0; i < COUNTERS; i++)
		atomic_store(counter[i].since, -1);
	atomic_store(&file->segments, -1);
	atomic_store(&file->retransmits, -1);
	memcpy(file->magic, CAIRN_PRESSURE_MAGIC, sizeof(file->magic));
	began = cairn_clock_ns(CLOCK_MONOTONIC);
	due = began + EVERY;
}

void cairn_pressure_begin(void)
{
	find_counters("/proc/self/cgroup", "/sys/fs/cgroup");
	begin_counting();
}

uint64_t cairn_pressure_watch(void)
{
	const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);

	if (file == NULL)
		return UINT64_MAX / 2;
	if (now >= due)
		read_counters(now);
	return due - now;
}

void cairn_pressure_end(void)
{
	const uint64_t now = cairn_clock_ns(CLOCK_MONOTONIC);
	const int saved = errno;

	if (file != NULL && atomic_load(&cairn_state) == CAIRN_ON && now - latest > (now - began) / RECENT)
		read_counters(now);
	errno = saved;
}
