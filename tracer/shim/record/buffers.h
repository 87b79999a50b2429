// Record buffers. The process makes them, and uses one again when the compressor, which is outside
// of it, has its records in a checkpoint (docs/decisions/0108-compressor.md). If the compressor is
// behind, or there is none, the process writes full buffers to files, until the spool is full. No
// thread waits for it: times are given up while it is far behind, or the spool is nearly full.
#ifndef CAIRN_BUFFERS_H
#define CAIRN_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

struct cairn_buffer;

// cairn_buffers_begin must be called once the process's directory exists.
void cairn_buffers_begin(void);

// A thread changes its buffer between cairn_buffers_lock and cairn_buffers_unlock. If a handler jumps
// out of that, the thread begins it again with its next call, and gets the same buffer. Locking
// is cairn_rare_lock. left: a buffer that the thread has no records in any more, NULL: none.
bool cairn_buffers_lock(const void *frame);
void cairn_buffers_unlock(struct cairn_buffer *left);

// cairn_buffers_next closes a thread's full buffer (NULL: none) and returns a fresh one, mostly with
// room for *capacity >= minimum bytes of records. *sums: its calls shall have sums in the place of
// times. NULL: tracing has stopped, and the reason was printed.
struct cairn_buffer *cairn_buffers_next(uint32_t thread, struct cairn_buffer *full, uint64_t minimum, uint64_t *capacity, bool *sums);

// cairn_buffers_unmap unmaps a buffer that the thread has left, unless it is used again.
void cairn_buffers_unmap(struct cairn_buffer *left);

// This rank's ballot at a marker (online.Ballot).
struct cairn_ballot_answer {
	uint64_t signature, unchanged, period, calls;
};

// cairn_ballot_request asks the compressor for the ballot about the interval that ended with cut
// number, from 0, whose record is committed. cairn_ballot_read reports whether the answer is there.
void cairn_ballot_request(uint64_t number);
bool cairn_ballot_read(uint64_t number, struct cairn_ballot_answer *ballot);

#endif
