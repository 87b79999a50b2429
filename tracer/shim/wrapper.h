// What the generated wrappers are made of.
#ifndef CAIRN_WRAPPER_H
#define CAIRN_WRAPPER_H

#include "abi.h"
#include "ask.h"
#include "cluster.h"
#include "describe.h"
#include "encode.h"
#include "fortran.h"
#include "place.h"
#include "prototypes_gen.h"
#include "record.h"
#include "reference.h"
#include "start.h"
#include "state.h"

// The reference log is written beside the record, by code of its own.
#define CAIRN_REFERENCE_CALL(call) const uint64_t reference_ = \
	CAIRN_UNLIKELY(atomic_load_explicit(&cairn_verifying, memory_order_relaxed)) ? (call) : 0
#define CAIRN_REFERENCE_RETURN(call) \
	do { \
		if (CAIRN_UNLIKELY(reference_ != 0)) \
			(cairn_line_stamps(word_ != NULL ? &record_ : NULL), (call)); \
	} while (0)

#endif
