// Number of elements of an array or a string that a call was given: the special values that replace
// a number, and the arithmetic of the generated lengths. The records and the reference log share
// only this and their queries to MPI (ask.h), so that they can be compared.
#ifndef CAIRN_LENGTH_H
#define CAIRN_LENGTH_H

#include <stdint.h>
#include <string.h>

// Special values of the length of an array or string.
#define CAIRN_NULL ((int64_t)-1)
#define CAIRN_SENTINEL ((int64_t)-2)
#define CAIRN_NOT_SIGNIFICANT ((int64_t)-3)

// Pointers may be NULL where the standard does not allow it: MPI then returns an error, and we must
// not crash first.
#define CAIRN_NUMBER_AT(p) ((p) != NULL ? (int64_t)*(p) : (int64_t)0)
#define CAIRN_IS(p, sentinel) ((const void *)(p) == (const void *)(sentinel))

#define CAIRN_SUM(array, n) \
	__extension__({ \
		int64_t sum_ = 0; \
		for (int64_t i_ = 0; i_ < (n); i_++) \
			sum_ += (array)[i_] > 0 ? (array)[i_] : 0; \
		sum_; \
	})
#define CAIRN_LAST(array, n) ((n) > 0 ? (int64_t)(array)[(n) - 1] : (int64_t)0)

static inline int64_t cairn_not_negative(int64_t n)
{
	return n > 0 ? n : 0;
}

// cairn_at_most limits a length to the capacity; it returns a special value of the
// capacity unchanged.
static inline int64_t cairn_at_most(int64_t capacity, int64_t n)
{
	return n < capacity ? n : capacity;
}

static inline int64_t cairn_count_strings(char *const *strings)
{
	int64_t n = 0;
	while (strings != NULL && strings[n] != NULL)
		n++;
	return n;
}

#endif
