// The clock of records: the time stamp counter where it is invariant, else
// CLOCK_MONOTONIC in nanoseconds.
#ifndef CAIRN_CLOCK_H
#define CAIRN_CLOCK_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#include "hidden.h"

enum { CAIRN_CLOCK_READINGS = 4 }; // tries for a sample of the clocks; the best one is used

extern CAIRN_HIDDEN bool cairn_clock_is_tsc;

static inline uint64_t cairn_clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t cairn_now(void)
{
	if (__builtin_expect(cairn_clock_is_tsc, 1))
		return __rdtsc();
	return cairn_clock_ns(CLOCK_MONOTONIC);
}

// The counter runs at one rate in all power states (Intel SDM vol. 3, 17.17.1).
static inline bool cairn_tsc_is_invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

#endif
