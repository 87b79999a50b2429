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

// The reference log is written beside the record, by code of its own: call is a member of struct cairn_reference_writers with
// its arguments.
#define CAIRN_REFERENCE_CALL(call) const uint64_t reference_ = \
	CAIRN_UNLIKELY(atomic_load_explicit(&cairn_verifying, memory_order_relaxed)) ? cairn_reference->write->call : 0
#define CAIRN_REFERENCE_RETURN(call) \
	do { \
		if (CAIRN_UNLIKELY(reference_ != 0)) \
			(cairn_reference_stamps(word_ != NULL ? &record_ : NULL), cairn_reference->write->call); \
	} while (0)

#endif
