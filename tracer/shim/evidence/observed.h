// Everything that is observed of a process other than its calls is in one mapped file, "observed"
// in its directory, since creating a file costs more than filling it. The file is consistent at any
// time, so a killed process loses nothing.
#ifndef CAIRN_OBSERVED_H
#define CAIRN_OBSERVED_H

#include <stddef.h>

#include "../../ring/layout_gen.h"

// cairn_observed returns size bytes of the file at offset CAIRN_OBSERVED_LIFE, _RING, _ANSWER,
// _CONTEXT, _PRESSURE or _EVIDENCE, initially zeros, or NULL if there is no room for them. The first
// call creates the file. Calls must not be concurrent.
void *cairn_observed(size_t part, size_t size);

#endif
