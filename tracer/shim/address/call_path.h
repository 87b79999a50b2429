// Call paths, and call sites with their callers, as words of records.
#ifndef CAIRN_CALL_PATH_H
#define CAIRN_CALL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "../process/hidden.h"

extern CAIRN_HIDDEN bool cairn_call_paths; // record them

// cairn_call_paths_begin begins with whole paths, or with call sites and the callers that
// distinguish them.
void cairn_call_paths_begin(bool whole);

// cairn_call_path returns the word for the current call; caller, the return address,
// if that says all.
uint64_t cairn_call_path(uint64_t caller);

#endif
