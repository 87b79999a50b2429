// Handles by their symbolic ids. A thread that uses a handle that another thread has not created
// yet waits for it. A thread that creates one whose id belongs to another thread's handle waits
// until that one is released.
#ifndef CAIRN_REPLAY_HANDLES_H
#define CAIRN_REPLAY_HANDLES_H

#include "mpih.h"
#include "stream.h"

// For each kind: read a handle (its id is -1 for a constant), or n of them after cr_list; store one
// that a call created, or one that it only returned and that is never freed; release one; release
// one if the call has set it to null.
#define CR_HANDLES(kind, type) \
	type cr_##kind(struct call *c, int64_t *id); \
	type *cr_##kind##s(struct call *c, int64_t n, int64_t **ids); \
	void cr_keep_##kind(struct call *c, int64_t id, type handle); \
	void cr_know_##kind(struct call *c, int64_t id, type handle); \
	void cr_drop_##kind(struct call *c, int64_t id, type handle); \
	void cr_update_##kind(struct call *c, int64_t id, type handle);
CR_KINDS(CR_HANDLES)
#undef CR_HANDLES

// The id of a new handle, or those of *n of them; -1 where the recorded call returned a constant.
int64_t cr_new(struct call *c);
int64_t *cr_news(struct call *c, int64_t *n);

#endif
