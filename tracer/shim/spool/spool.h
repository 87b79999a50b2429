// The process's directory in the spool (docs/decisions/0001-seams.md).
#ifndef CAIRN_SPOOL_H
#define CAIRN_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../ring/buffer.h"

// cairn_spool_make creates the directory, takes its lock and writes process.json. It returns
// NULL, or an error.
const char *cairn_spool_make(const char *spool, const char *name, const char *process_json);

// cairn_spool_directory is its path.
extern char cairn_spool_directory[];

// cairn_spool_map creates a file and maps it: on a tmpfs where that is possible, as stores to it are
// frequent, and in the directory otherwise. All of it is allocated, since a store to an unallocated
// block on a full disk is a SIGBUS. It returns NULL and sets errno if that is not possible. Files
// that prove that the process ran may use the reserved part of the spool. The compressor may write to
// the file.
void *cairn_spool_map(const char *name, size_t size, bool reserved);

// cairn_spool_slot returns one of the record buffers that are used again, from 0 in their order: on
// a tmpfs where that is possible. NULL: there is no further one, or they have no room for minimum
// bytes of records. Calls must not be concurrent.
struct cairn_buffer *cairn_spool_slot(uint32_t number, uint64_t minimum);

// cairn_spool_buffer creates a record buffer that is not used again, with room for minimum bytes of
// records; small: with not much more. first: the process has no other, so it may use the reserved
// part. On failure it returns NULL and sets *why. Calls must not be concurrent.
struct cairn_buffer *cairn_spool_buffer(const char *name, uint64_t minimum, bool small, bool first, const char **why);

// cairn_spool_fits reports whether a file may become size bytes long; else it sets errno. A process
// that writes beyond RLIMIT_FSIZE gets SIGXFSZ, which would end the application. The limit is meant
// for the application's files, but it applies to ours, too.
bool cairn_spool_fits(uint64_t size);

// cairn_spool_has_space reports whether an eighth of the file system is free: in a pod, since the
// kubelet evicts pods below a tenth. Elsewhere 8 GiB are enough.
bool cairn_spool_has_space(void);

// cairn_spool_is_nearly_full reports whether a quarter is left of what the process may have of the
// spool, or if it was so already, three eighths.
bool cairn_spool_is_nearly_full(bool already);

// cairn_spool_copy copies a slot of the ring, with so many bytes of records, to a file, without
// mapping it. number is that of the copy: numbers only grow, and may leave some out. CAIRN_COPIES of
// them are in one file, copies-N.seg, since creating a file can cost more than writing to it (0108).
bool cairn_spool_copy(uint32_t number, const struct cairn_buffer *buffer, uint64_t used);

// cairn_spool_compressed tells how many bytes the compressor's files for this process have, and how
// many bytes of buffers it has removed so far.
void cairn_spool_compressed(uint64_t bytes, uint64_t removed);

#endif
