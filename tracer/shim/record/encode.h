// Encoding of parameters in a record (docs/decisions/0001-seams.md).
#ifndef CAIRN_ENCODE_H
#define CAIRN_ENCODE_H

#include <string.h>

#include "../process/abi.h"
#include "length.h"
#include "record.h"

// Pointers may be NULL where the standard does not allow it: MPI then returns an error, and we must
// not crash first.
#define CAIRN_WORD_AT(p) ((p) != NULL ? CAIRN_WORD(*(p)) : (uint64_t)0)

#define CAIRN_PUT_LIST(word, n, array) \
	do { \
		const int64_t n_ = (n); \
		*(word)++ = (uint64_t)n_; \
		if (n_ == CAIRN_SENTINEL) \
			*(word)++ = CAIRN_WORD(array); \
		for (int64_t i_ = 0; i_ < n_; i_++) \
			*(word)++ = CAIRN_WORD((array)[i_]); \
	} while (0)

// CAIRN_SAME_LIST reports whether an array is the list at word, which it moves behind the list. It
// may be moved less after a difference.
#define CAIRN_SAME_LIST(word, n, array) \
	__extension__({ \
		const int64_t n_ = (n); \
		bool same_ = *(word)++ == (uint64_t)n_; \
		if (n_ == CAIRN_SENTINEL && same_) \
			same_ = *(word)++ == CAIRN_WORD(array); \
		if (n_ > 0 && same_) { \
			if (sizeof((array)[0]) == 8) \
				same_ = cairn_same_words(word, (const void *)(array), (uint64_t)n_); \
			else if (sizeof((array)[0]) == 4) \
				same_ = cairn_same_ints(word, (const void *)(array), (uint64_t)n_); \
			else \
				for (int64_t i_ = 0; i_ < n_ && same_; i_++) \
					same_ = (word)[i_] == CAIRN_WORD((array)[i_]); \
			(word) += n_; \
		} \
		same_; \
	})

static inline uint64_t cairn_double(double x)
{
	uint64_t w;
	memcpy(&w, &x, sizeof(w));
	return w;
}

static inline uint64_t cairn_list_bytes(int64_t n)
{
	return 16 + (n > 0 ? 8 * (uint64_t)n : 0);
}

static inline uint64_t cairn_string_bytes(int64_t n)
{
	return 16 + (n > 0 ? ((uint64_t)n + 7) / 8 * 8 : 0);
}

uint64_t cairn_strings_bytes(char *const *strings, int64_t n);
uint64_t cairn_argument_lists_bytes(char **const *lists, int64_t n);

uint64_t *cairn_put_string(uint64_t *word, int64_t n, const char *s);
uint64_t *cairn_put_strings(uint64_t *word, int64_t n, char *const *strings);
uint64_t *cairn_put_argument_lists(uint64_t *word, int64_t n, char **const *lists);

// cairn_put_string_within writes a string that is terminated by a zero byte or by capacity.
uint64_t *cairn_put_string_within(uint64_t *word, int64_t capacity, const char *s);

// cairn_put_argv writes MPI_Init's arguments after the call, if they are no longer than before.
uint64_t *cairn_put_argv(uint64_t *word, int64_t before, char ***argv, uint64_t bytes);

// MPI is passed statuses of ours, as many as the program passes or ignores. Few of them are on the
// stack, since space that is reserved in a record and not used is lost.
enum { CAIRN_FEW = 32 };

static inline uint64_t cairn_statuses_bytes(int64_t n)
{
	const uint64_t each = n > CAIRN_FEW ? 24 + sizeof(MPI_Status) : 24;
	return 24 + (n > 0 ? each * (uint64_t)n : 0);
}

// cairn_clear_status sets fields that a call may not write to the same values in all records.
static inline MPI_Status *cairn_clear_status(MPI_Status *status)
{
	memset(status, 0, sizeof(*status));
	return status;
}

// cairn_own_statuses returns room for n statuses, for an application that ignores them or for
// cairn_mark_statuses: few, or the end of the record.
static inline MPI_Status *cairn_own_statuses(struct cairn_record *record, MPI_Status *few, int64_t n)
{
	char *end = (char *)record->header + record->size;
	record->held = n > CAIRN_FEW;
	MPI_Status *statuses = n > CAIRN_FEW ? (MPI_Status *)(void *)(end - sizeof(MPI_Status) * (uint64_t)n) : few;
	memset(statuses, 0, sizeof(MPI_Status) * (uint64_t)n);
	return statuses;
}

// No MPI writes every field of every status: MPICH writes only the cancelled bit of a send's
// status, and the file functions of both set only the count. A field that was not written must not
// be recorded. So each field is set to a sentinel before the call. Afterwards remaining sentinels
// are replaced by zeros (cairn_settle_statuses), and finally the application's memory gets the
// values that MPI would have left (cairn_restore_statuses). The only exception is MPICH's cancelled
// bit, which has no room for a sentinel: it is 0 where MPICH does not write it.
#define CAIRN_UNSET 0x5ca1ab1e

static inline void cairn_mark_statuses(MPI_Status *statuses, MPI_Status *saved, int64_t n)
{
	for (int64_t i = 0; statuses != NULL && i < n; i++) {
		saved[i] = statuses[i];
		statuses[i].MPI_SOURCE = statuses[i].MPI_TAG = CAIRN_UNSET;
#ifdef CAIRN_MPICH
		statuses[i].count_lo = CAIRN_UNSET;
		statuses[i].count_hi_and_cancelled = 0;
#else
		statuses[i]._ucount = CAIRN_UNSET;
		statuses[i]._cancelled = CAIRN_UNSET;
#endif
	}
}

// Saves a field that was written, and clears one that was not.
#define CAIRN_SETTLE(status, saved, field) \
	do { \
		if ((status)->field == CAIRN_UNSET) \
			(status)->field = 0; \
		else \
			(saved)->field = (status)->field; \
	} while (0)

static inline void cairn_settle_statuses(MPI_Status *statuses, MPI_Status *saved, int64_t n)
{
	for (int64_t i = 0; statuses != NULL && i < n; i++) {
		MPI_Status *s = &statuses[i];
		CAIRN_SETTLE(s, &saved[i], MPI_SOURCE);
		CAIRN_SETTLE(s, &saved[i], MPI_TAG);
#ifdef CAIRN_MPICH
		int high = (s->count_lo == CAIRN_UNSET ? saved[i].count_hi_and_cancelled : s->count_hi_and_cancelled) & ~1;
		saved[i].count_hi_and_cancelled = high | (s->count_hi_and_cancelled & 1);
		CAIRN_SETTLE(s, &saved[i], count_lo);
#else
		CAIRN_SETTLE(s, &saved[i], _ucount);
		CAIRN_SETTLE(s, &saved[i], _cancelled);
#endif
	}
}

static inline void cairn_restore_statuses(MPI_Status *statuses, const MPI_Status *saved, int64_t n)
{
	for (int64_t i = 0; statuses != NULL && i < n; i++) {
		MPI_Status *s = &statuses[i];
		const int error = s->MPI_ERROR;
		*s = saved[i];
		s->MPI_ERROR = error;
	}
}

static inline uint64_t *cairn_put_status_fields(uint64_t *word, const MPI_Status *status, bool with_error)
{
	MPI_Status s = *status;
	word[0] = (uint32_t)s.MPI_SOURCE | (uint64_t)(uint32_t)s.MPI_TAG << 32;
	word[1] = (with_error ? (uint32_t)s.MPI_ERROR : 0) | (uint64_t)cairn_status_cancelled(&s) << 32;
	word[2] = (uint64_t)cairn_status_bytes(&s);
	return word + 3;
}

// cairn_put_status writes a status; NULL: it is undefined.
static inline uint64_t *cairn_put_status(uint64_t *word, bool ignored, const MPI_Status *status, bool with_error)
{
	if (status == NULL) {
		word[0] = ignored ? (uint64_t)-2 : (uint64_t)-1;
		word[1] = word[2] = word[3] = 0;
	} else {
		word[0] = ignored;
		cairn_put_status_fields(word + 1, status, with_error);
	}
	return word + 4; // the same number of words in both cases, known to the compiler
}

static inline uint64_t *cairn_put_statuses(uint64_t *word, bool ignored, int64_t n, const MPI_Status *statuses, bool with_error)
{
	*word++ = ignored;
	if (statuses == NULL)
		n = CAIRN_NULL;
	*word++ = (uint64_t)n;
	for (int64_t i = 0; i < n; i++)
		word = cairn_put_status_fields(word, &statuses[i], with_error);
	return word;
}

// Reports whether the outputs are defined: also if the call failed and its statuses
// have the errors.
static inline bool cairn_outputs_defined(int result)
{
	return CAIRN_LIKELY(result == MPI_SUCCESS) || result == MPI_ERR_IN_STATUS;
}

static inline bool cairn_errors_defined(int result)
{
	return CAIRN_UNLIKELY(result == MPI_ERR_IN_STATUS);
}

#endif
