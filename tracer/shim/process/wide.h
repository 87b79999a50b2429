// Sixteen bytes at once, with what every processor of an architecture has.
#ifndef CAIRN_WIDE_H
#define CAIRN_WIDE_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

// Four ints, at any address of one. Comparing two gives -1 where they are equal, else 0.
typedef int32_t cairn_four __attribute__((vector_size(16), aligned(4), may_alias));

// cairn_all_equal reports whether all are -1.
static inline bool cairn_all_equal(cairn_four equal)
{
#ifdef __x86_64__
	return _mm_movemask_epi8((__m128i)equal) == 0xffff;
#else
	typedef uint64_t pair __attribute__((vector_size(16)));
	const pair p = (pair)equal;
	return (p[0] & p[1]) == UINT64_MAX;
#endif
}

// cairn_store_pair writes two words with one instruction: a process can be killed only before or
// after it. What was stored before is visible to others before it is.
static inline void cairn_store_pair(void *at, uint64_t first, uint64_t second)
{
	__atomic_thread_fence(__ATOMIC_RELEASE);
#ifdef __x86_64__
	_mm_storeu_si128((__m128i *)at, _mm_set_epi64x((int64_t)second, (int64_t)first));
#else
	__asm__ volatile("stp %1, %2, %0" : "=Q"(*(uint64_t(*)[2])at) : "r"(first), "r"(second));
#endif
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
