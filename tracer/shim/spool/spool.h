// The process's directory in the spool (docs/decisions/0001-seams.md).
#ifndef CAIRN_SPOOL_H
#define CAIRN_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../core/segment.h"

// cairn_spool_make makes the directory, takes its lock and writes process.json. It returns NULL, or what went wrong.
const char *cairn_spool_make(const char *spool, const char *name, const char *process_json);

// cairn_spool_directory is its path.
extern char cairn_spool_directory[];

// cairn_spool_map makes a file in the directory, all of it allocated and mapped: a store to a file that is not allocated
// would be a SIGBUS on a full disk. NULL and errno when that is not possible. Files that are signs that the process was there
// may take the part of the spool that is kept for them.
void *cairn_spool_map(const char *name, size_t size, bool sign);

// cairn_spool_limit_reached says that the limit of all processes is reached, or that of this one if it has its own.
const char *cairn_spool_limit_reached(void);

// cairn_spool_segment_bytes is the usual size of a segment.
uint64_t cairn_spool_segment_bytes(void);

// cairn_spool_segment makes one more segment, with room for minimum bytes of records. It returns NULL and what went wrong.
// One thread at a time.
struct cairn_segment *cairn_spool_segment(uint64_t minimum, const char **why);

#endif
