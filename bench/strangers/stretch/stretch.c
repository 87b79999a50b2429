// SPDX-License-Identifier: Apache-2.0
/*
 * Preloaded into the ranks of `cairn replay --compute sleep`: a rank sleeps longer than it wants to, by the factor that
 * the file STRETCH_FILE has for it. The file has a double for each rank, and may change while the ranks run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile double *factor; /* of this rank; NULL: there is none */

__attribute__((constructor)) static void open_factors(void)
{
	const char *path = getenv("STRETCH_FILE"), *rank = getenv("OMPI_COMM_WORLD_RANK");
	if (!path || !rank)
		return;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	void *all = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	if (all != MAP_FAILED)
		factor = (const volatile double *)all + atoi(rank);
	close(file);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	static int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
	if (!real)
		real = (int (*)(clockid_t, int, const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "clock_nanosleep");
	if (!factor || *factor <= 1 || clock != CLOCK_MONOTONIC || flags != TIMER_ABSTIME)
		return real(clock, flags, until, left);
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	double wanted = (double)(until->tv_sec - now.tv_sec) + 1e-9 * (double)(until->tv_nsec - now.tv_nsec);
	if (wanted <= 0)
		return 0;
	double seconds = wanted * *factor + 1e-9 * (double)now.tv_nsec;
	struct timespec later = {.tv_sec = now.tv_sec + (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
	return real(clock, flags, &later, left);
}
