// The executable and shared libraries of the process.
#ifndef CAIRN_MODULES_H
#define CAIRN_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "../spool/json.h"

// cairn_modules writes all current modules to process.json.
void cairn_modules(struct cairn_json *j);

// cairn_modules_know ensures that the module with this address, if there is one, is in process.json
// or in the dictionary. It returns the base and the size of its mappings; false: there is no module
// at this address.
bool cairn_modules_know(uintptr_t address, uintptr_t *base, uintptr_t *size);

// cairn_modules_refresh adds newly loaded modules to the dictionary.
void cairn_modules_refresh(void);

// cairn_modules_use sends the module with this address to whoever looks up names, after a call from
// it. It reports whether it was the first call from it. cairn_modules_use_executable does so for the
// executable at the start, since most executables call MPI.
bool cairn_modules_use(uintptr_t address);
void cairn_modules_use_executable(void);

// cairn_modules_retry sends the modules that could not be sent: the listener may have started after
// the rank. At the end, all that it does not have: it may have been started again.
void cairn_modules_retry(bool at_end);

#endif
