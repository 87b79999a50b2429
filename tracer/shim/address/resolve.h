// Names of the functions and lines of a binary. Looking them up takes too long for a rank, and the
// process that does it may be in another container, which has other files. So a rank passes it the
// open binary (docs/decisions/0109-names-by-descriptor.md).
#ifndef CAIRN_RESOLVE_H
#define CAIRN_RESOLVE_H

#include <stdbool.h>

// cairn_resolve sends a binary to the listener of the spool, unless the listener has it. It never
// blocks, and leaves errno and the set of open descriptors as they were. It returns false if that
// was not possible now: nobody listens, or too many send.
bool cairn_resolve(const char *binary, const char *id);

#endif
