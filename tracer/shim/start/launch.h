// The id of the launch that this process is a rank of: equal on all its ranks and different on all
// others, on whatever hosts and in whatever namespaces they are. directory is the name of the
// process's directory, which is unique, for one that no launcher started.
#ifndef CAIRN_LAUNCH_H
#define CAIRN_LAUNCH_H

#include <stddef.h>

void cairn_launch_id(char *out, size_t size, const char *directory);

#endif
