// Where segments come from: the first ones are made here. The Go core, behind its functions (docs/decisions/0001-seams.md),
// is started once they are full, on a thread of ours; from then on it compresses, and segments come from there. A process
// that calls little never has a Go runtime.
#ifndef CAIRN_CORE_H
#define CAIRN_CORE_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_segment;

// cairn_core_missing tells at once of a core that is not there, also to who will not need it; else it returns NULL.
const char *cairn_core_missing(void);

// cairn_core_begin starts the thread, which also samples what the operating system counts for the process. It returns NULL,
// or what went wrong.
const char *cairn_core_begin(void);

// cairn_core_want starts the core, however little there is to do.
void cairn_core_want(void);

// cairn_core_next_segment hands over a thread's full segment (NULL: none) and gives it a fresh one with room for *capacity >=
// minimum bytes of records. NULL: tracing has stopped, and the reason was said.
struct cairn_segment *cairn_core_next_segment(uint32_t thread, struct cairn_segment *full, uint64_t minimum, uint64_t *capacity);

// What this rank says at a marker (online.Ballot).
struct cairn_core_ballot {
	uint64_t signature, unchanged, period, calls;
};

// cairn_core_ask asks for it; false if there is no answer, or none in time.
bool cairn_core_ask(struct cairn_core_ballot *ballot);

#endif
