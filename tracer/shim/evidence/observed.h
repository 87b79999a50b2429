// What is observed of a process beside its calls is in one mapped file, "observed" in its directory: to make a file costs
// more than to fill it. What is in it is whole at any moment, so that a killed process loses nothing.
#ifndef CAIRN_OBSERVED_H
#define CAIRN_OBSERVED_H

#include <stddef.h>

#include "../../core/layout_gen.h"

// cairn_observed returns size bytes of the file, from CAIRN_OBSERVED_LIFE, _CONTEXT or _EVIDENCE on, zeros at first, or NULL where
// there is no room for them. The file is made when a part is asked for first. One thread at a time.
void *cairn_observed(size_t part, size_t size);

#endif
