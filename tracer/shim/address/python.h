// The line of Python that made a call. It replaces the address in the extension module or library
// that called MPI (docs/decisions/0038-python.md).
#ifndef CAIRN_PYTHON_H
#define CAIRN_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "../process/hidden.h"

// Whether the process has an interpreter of Python. cairn_python_look finds out; a module that
// calls MPI for the first time is the occasion.
extern CAIRN_HIDDEN _Atomic bool cairn_python_loaded;
void cairn_python_look(void);

// cairn_python_line returns the word for the current line of Python of the calling thread; caller
// if that is not known.
uint64_t cairn_python_line(uint64_t caller);

#endif
