// What is observed of a process beside its calls is in one mapped file, "observed" in its directory: to make a file costs
// more than to fill it. What is in it is whole at any moment, so that a killed process loses nothing.
#ifndef CAIRN_OBSERVED_H
#define CAIRN_OBSERVED_H

#include <stddef.h>

// The parts of the file. tracer/recorder/observed/observed.go reads them.
enum cairn_observed {
	CAIRN_OBSERVED_LIFE = 0,        // life.c
	CAIRN_OBSERVED_CONTEXT = 512,   // context.c
	CAIRN_OBSERVED_EVIDENCE = 8192, // evidence.c, to the end
};

// cairn_observed returns size bytes of the file, zeros at first, or NULL where there is no room for them. The file is made when a
// part is asked for first. One thread at a time.
void *cairn_observed(enum cairn_observed part, size_t size);

#endif
