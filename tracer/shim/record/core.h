// Source of record buffers. The first ones are created here. Once they are full the Go core is
// started, behind its functions (docs/decisions/0001-seams.md), on a thread of ours. From then on
// it compresses buffers and provides them. A process with few calls never has a Go runtime.
#ifndef CAIRN_CORE_H
#define CAIRN_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_buffer;

// cairn_core_missing returns an error if the library of the core is missing, even if the process
// may never need it; else NULL.
const char *cairn_core_missing(void);

// cairn_core_begin starts the tracer's thread, which also samples what the operating system counts
// for the process. It returns NULL, or an error.
const char *cairn_core_begin(void);

// cairn_core_want starts the core regardless of the number of buffers.
void cairn_core_want(void);

// cairn_core_next_buffer hands over a thread's full buffer (NULL: none) and returns a fresh one
// with room for *capacity >= minimum bytes of records. NULL: tracing has stopped, and the
// reason was printed.
struct cairn_buffer *cairn_core_next_buffer(uint32_t thread, struct cairn_buffer *full, uint64_t minimum, uint64_t *capacity);

// This rank's ballot at a marker (online.Ballot).
struct cairn_core_ballot {
	uint64_t signature, unchanged, period, calls;
};

// cairn_core_ask requests the ballot; false if there is none, or not in time.
bool cairn_core_ask(struct cairn_core_ballot *ballot);

#endif
