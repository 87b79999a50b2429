// The executable and shared libraries of the process, for process.json.
#ifndef CAIRN_MODULES_H
#define CAIRN_MODULES_H

#include <stddef.h>

#include "json.h"

void cairn_modules(struct cairn_json *j);

// cairn_executable_build_id writes the build id of the running program in hex; "" if it has none.
void cairn_executable_build_id(char *out, size_t size);

#endif
