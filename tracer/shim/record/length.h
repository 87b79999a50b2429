// How many elements an array or a string has that a call was given: the marks that stand in the place of a number, and
// the arithmetic of the generated lengths. The records and the reference log have nothing else in common, but for what
// they ask MPI (ask.h).
#ifndef CAIRN_LENGTH_H
#define CAIRN_LENGTH_H

#include <stdint.h>
#include <string.h>

// Marks in place of the length of an array or string.
#define CAIRN_NULL ((int64_t)-1)
#define CAIRN_SENTINEL ((int64_t)-2)
#define CAIRN_NOT_SIGNIFICANT ((int64_t)-3)

// Pointers may be NULL where the standard does not allow it: MPI then returns an error, and we must not crash first.
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

// cairn_at_most bounds what is defined by the capacity; a mark in place of the capacity stays.
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
