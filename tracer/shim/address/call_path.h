// Call paths as words of records.
#ifndef CAIRN_CALL_PATH_H
#define CAIRN_CALL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "../process/hidden.h"

extern CAIRN_HIDDEN bool cairn_call_paths; // record them

void cairn_call_paths_begin(void);

// cairn_call_path returns the word for the current call path; caller, the return address, if there is none.
uint64_t cairn_call_path(uint64_t caller);

#endif
