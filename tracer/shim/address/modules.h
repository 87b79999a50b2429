// The executable and shared libraries of the process.
#ifndef CAIRN_MODULES_H
#define CAIRN_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "../spool/json.h"

// cairn_modules writes all that are there for process.json.
void cairn_modules(struct cairn_json *j);

// cairn_modules_know makes sure that the module with this address, if there is one, is in process.json or in the
// dictionary, and returns where its mappings begin and how long they are; false: nothing is mapped there.
bool cairn_modules_know(uintptr_t address, uintptr_t *base, uintptr_t *size);

// cairn_modules_refresh adds what was loaded since to the dictionary.
void cairn_modules_refresh(void);

// cairn_modules_use has the symbols of the module with this address looked up: a call came from there. At once for the
// executable, as most do.
void cairn_modules_use(uintptr_t address);
void cairn_modules_use_executable(void);

#endif
