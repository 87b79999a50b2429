// The clock of records: the counter of the processor where it runs at one rate, else
// CLOCK_MONOTONIC in nanoseconds.
#ifndef CAIRN_CLOCK_H
#define CAIRN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "hidden.h"

enum { CAIRN_CLOCK_READINGS = 4 }; // tries for a sample of the clocks; the best one is used

extern CAIRN_HIDDEN bool cairn_clock_is_tsc;

static inline uint64_t cairn_clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// cairn_clock_begin must be called before the first cairn_now.
#ifdef __x86_64__

static inline uint64_t cairn_counter(void)
{
	return __rdtsc();
}

static inline void cairn_clock_begin(void)
{
	unsigned a, b, c, d;
	// It runs at one rate in all power states (Intel SDM vol. 3, 17.17.1).
	cairn_clock_is_tsc = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8));
}

#elif defined(__aarch64__)

extern CAIRN_HIDDEN unsigned cairn_clock_shift;

// The virtual count, which CLOCK_MONOTONIC is made of. It is shifted since readers state errors of
// times in ticks, which must not be longer than a nanosecond.
static inline uint64_t cairn_counter(void)
{
	uint64_t count;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count << cairn_clock_shift;
}

static inline void cairn_clock_begin(void)
{
	uint64_t rate; // 25 MHz to 1 GHz, at all times (Arm ARM, D12.1)
	__asm__("mrs %0, cntfrq_el0" : "=r"(rate));
	for (cairn_clock_shift = 0; cairn_clock_shift < 10 && rate << cairn_clock_shift < 1000000000; cairn_clock_shift++)
		;
	cairn_clock_is_tsc = true;
}

#else
#error "the tracer knows x86-64 and arm64"
#endif

static inline uint64_t cairn_now(void)
{
	if (__builtin_expect(cairn_clock_is_tsc, 1))
		return cairn_counter();
	return cairn_clock_ns(CLOCK_MONOTONIC);
}

#endif
