// Handles by their symbolic ids. A thread that uses one that another thread has not got yet waits for it, and one that gets
// one whose id is still another thread's waits until that has given it up.
#ifndef CAIRN_REPLAY_HANDLES_H
#define CAIRN_REPLAY_HANDLES_H

#include "mpih.h"
#include "stream.h"

// For each kind: read a handle (its id is -1 for a constant), or n of them after cr_list; keep one that a call made, or one that
// it only handed out, which nobody frees; give one up; give one up if the call has made it null.
#define CR_HANDLES(kind, type) \
	type cr_##kind(struct call *c, int64_t *id); \
	type *cr_##kind##s(struct call *c, int64_t n, int64_t **ids); \
	void cr_keep_##kind(struct call *c, int64_t id, type handle); \
	void cr_know_##kind(struct call *c, int64_t id, type handle); \
	void cr_drop_##kind(struct call *c, int64_t id, type handle); \
	void cr_update_##kind(struct call *c, int64_t id, type handle);
CR_KINDS(CR_HANDLES)
#undef CR_HANDLES

// The id that a new handle is to have, or those of *n of them; -1 where the recorded call gave a constant.
int64_t cr_new(struct call *c);
int64_t *cr_news(struct call *c, int64_t *n);

#endif
