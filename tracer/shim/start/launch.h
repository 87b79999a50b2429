// The name of the mpirun that started this process: equal on all its ranks, and
// different on all others.
#ifndef CAIRN_LAUNCH_H
#define CAIRN_LAUNCH_H

#include <stddef.h>

void cairn_launch_id(char *out, size_t size, const char *hostname);

#endif
