// What the generated functions need to make calls.
#ifndef CAIRN_REPLAY_ISSUE_H
#define CAIRN_REPLAY_ISSUE_H

#include "callbacks.h"
#include "compute.h"
#include "constants.h"
#include "files.h"
#include "handles.h"
#include "memory.h"
#include "stream.h"

// The address to pass where the program passed one that MPI only stores.
extern char cr_state[];

MPI_Status cr_status(struct call *c);

// A number that must be one of a C type.
#define CR_NUMBER(c, type) \
	__extension__({ \
		const int64_t read_ = cr_number(c); \
		if ((int64_t)(type)read_ != read_) \
			cr_damaged(c, "a number that is too large for this MPI"); \
		(type)read_; \
	})

// An array of n of them, after cr_list; or the constant in its place.
#define CR_NUMBERS(c, n, type) \
	__extension__({ \
		type *array_ = n < 0 ? (c)->sentinel : cr_allocate(c, n, sizeof(type)); \
		for (int64_t k_ = 0; k_ < n; k_++) \
			array_[k_] = CR_NUMBER(c, type); \
		array_; \
	})

// The spans of collectives that have a count and a displacement for each process, in elements of
// one datatype, or in bytes with several datatypes; and the sum of counts.
#define CR_SPAN_V(c, n, counts, displacements, type) \
	__extension__({ \
		struct span all_ = {0, 0}; \
		const int64_t extent_ = cr_extent(c, type); \
		for (int64_t k_ = 0; k_ < n; k_++) \
			all_ = cr_join(all_, cr_move(c, cr_span(c, counts[k_], type), cr_times(c, displacements[k_], extent_))); \
		all_; \
	})
#define CR_SPANS(c, n, counts, displacements, types) \
	__extension__({ \
		struct span all_ = {0, 0}; \
		for (int64_t k_ = 0; k_ < n; k_++) \
			all_ = cr_join(all_, cr_move(c, cr_span(c, counts[k_], types[k_]), displacements[k_])); \
		all_; \
	})
#define CR_SUM(n, counts) \
	__extension__({ \
		int64_t sum_ = 0; \
		for (int64_t k_ = 0; k_ < n; k_++) \
			sum_ += counts[k_]; \
		sum_; \
	})

#endif
