// Calls that never return: the program leaves them by longjmp, an exception, another context, or
// the end of the thread (docs/decisions/0113-calls-that-are-left.md). Their records are closed by
// whoever goes on in the buffer.
#ifndef CAIRN_LEFT_H
#define CAIRN_LEFT_H

#include "record.h"

// cairn_leave ends the open records of a buffer that are nested at least so deep: their calls were
// left, at the latest at this time. It returns where the next record goes.
char *cairn_leave(struct cairn_buffer *b, unsigned depth, uint64_t at);

// cairn_still_open returns how many of the thread's open calls may still return, as far as the frame
// of another call of the thread shows.
unsigned cairn_still_open(const struct cairn_thread *t, const void *frame);

// cairn_resumes reports whether a call with this frame shows that a signal handler which had
// interrupted the shim does not return to it.
bool cairn_resumes(const struct cairn_thread *t, const void *frame);

int cairn_unwound(int version, int actions, uint64_t class, void *exception, void *context) CAIRN_HIDDEN;

#endif
