// Times are given up before calls: while the compressor cannot follow, or the spool is nearly full
// (cairn_buffers_next says so), a call that repeats an original is two bytes of a summed record
// instead of a short record, and its times are in sums by original (0108).
#ifndef CAIRN_SUMMED_H
#define CAIRN_SUMMED_H

#include "record.h"

// cairn_sums_begin has the thread give up times in the buffer that it begins. Without memory for
// that it goes on as before.
void cairn_sums_begin(struct cairn_thread *t);

// cairn_sum adds a call that has returned to the thread's summed record, or begins one with it. The
// call's short record is where the thread's records end, and equal to its original. It returns
// where they end afterwards, or NULL: the short record must be committed.
char *cairn_sum(struct cairn_thread *t, const struct cairn_record *record);

// cairn_sums_end ends the thread's summed record: something else follows.
void cairn_sums_end(struct cairn_thread *t);

#endif
