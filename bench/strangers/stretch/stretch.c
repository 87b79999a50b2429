// SPDX-License-Identifier: Apache-2.0
/*
 * Preloaded into the ranks of `cairn replay --compute sleep`: a rank sleeps longer than it wants to, by the factor that
 * the file STRETCH_FILE has for it, everywhere or in one region. A region is all sleep before the same MPI function. The
 * file has a slot for each rank, and may change while the ranks run (../stretch.go).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { REGIONS = 30 };

struct slot {
	double factor;
	uint64_t only; /* the region that is stretched; 0: all of them */
	double longer; /* seconds that were added */
	uint64_t unused;
	struct {
		uint64_t at;  /* offset in the program of the call that sleeps; 0: none yet */
		double slept; /* seconds that it wanted to */
	} region[REGIONS];
};

static volatile struct slot *slot; /* of this rank; NULL: there is none */

__attribute__((constructor)) static void open_slot(void)
{
	const char *path = getenv("STRETCH_FILE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	if (!path || !rank)
		return;
	int file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return;
	void *all = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (all != MAP_FAILED)
		slot = (volatile struct slot *)all + atoi(rank);
	close(file);
	void *frames[1];
	backtrace(frames, 1); /* the first one loads a library */
}

/* region returns the offset in the program from which the caller's caller was called. */
__attribute__((noinline)) static uint64_t region(void)
{
	void *frames[4];
	Dl_info in;
	if (backtrace(frames, 4) < 4 || !dladdr(frames[3], &in))
		return 0;
	return (uint64_t)((char *)frames[3] - (char *)in.dli_fbase);
}

/* note adds a sleep to those of its region. */
static void note(uint64_t at, double seconds)
{
	for (int i = 0; at != 0 && i < REGIONS; i++) {
		if (slot->region[i].at == 0)
			slot->region[i].at = at;
		if (slot->region[i].at == at) {
			slot->region[i].slept += seconds;
			return;
		}
	}
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	static int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
	if (!real)
		real = (int (*)(clockid_t, int, const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "clock_nanosleep");
	if (!slot || clock != CLOCK_MONOTONIC || flags != TIMER_ABSTIME)
		return real(clock, flags, until, left);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	const double wanted = (double)(until->tv_sec - now.tv_sec) + 1e-9 * (double)(until->tv_nsec - now.tv_nsec);
	if (wanted <= 0)
		return 0;
	const uint64_t at = region();
	note(at, wanted);
	if (slot->factor <= 1 || (slot->only != 0 && slot->only != at))
		return real(clock, flags, until, left);
	slot->longer += wanted * (slot->factor - 1);
	const double seconds = wanted * slot->factor + 1e-9 * (double)now.tv_nsec;
	const struct timespec later = {now.tv_sec + (time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
	return real(clock, flags, &later, left);
}
