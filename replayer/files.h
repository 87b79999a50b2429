// Files that MPI reads and writes. Their names were mapped into a folder of the re-execution.
#ifndef CAIRN_REPLAY_FILES_H
#define CAIRN_REPLAY_FILES_H

#include "stream.h"

// Creates a file that the recorded call found: one that is opened without being created, or deleted
// (mode 0).
void cr_prepare_file(struct call *c, const char *name, int mode);

#endif
