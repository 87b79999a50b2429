// Building blocks of the generated wrappers.
#ifndef CAIRN_WRAPPER_H
#define CAIRN_WRAPPER_H

#include "../address/pointer.h"
#include "../bind/reference.h"
#include "../cluster/cluster.h"
#include "../fortran/fortran.h"
#include "../gen/prototypes_gen.h"
#include "../process/abi.h"
#include "../process/state.h"
#include "../record/ask.h"
#include "../record/describe.h"
#include "../record/encode.h"
#include "../record/record.h"
#include "../start/start.h"

// The reference log is written in addition to the record, by separate code. call is a member of
// struct cairn_reference_writers with its arguments.
#define CAIRN_REFERENCE_CALL(call) const uint64_t reference_ = \
	CAIRN_UNLIKELY(atomic_load_explicit(&cairn_verifying, memory_order_relaxed)) ? cairn_reference->write->call : 0
#define CAIRN_REFERENCE_RETURN(call) \
	do { \
		if (CAIRN_UNLIKELY(reference_ != 0)) \
			(cairn_reference_stamps(word_ != NULL ? &record_ : NULL), cairn_reference->write->call); \
	} while (0)

// In a function: an unwinder that passes its frame calls cairn_unwound (left.c). One function of each
// call has it.
#define CAIRN_SEES_UNWINDING __asm__ volatile(".cfi_personality 0x1b, cairn_unwound") // relative to the place, 4 bytes, signed

// In a function, behind a call: the frame stays until the call has returned.
#define CAIRN_STAYS __asm__ volatile("")

// The body for calls that do not repeat what was expected.
#define OTHER __attribute__((noinline, noclone))

#endif
