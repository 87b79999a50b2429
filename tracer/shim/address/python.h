// The line of Python that made a call. It replaces the address in the extension module that called MPI
// (docs/decisions/0038-python.md).
#ifndef CAIRN_PYTHON_H
#define CAIRN_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

// cairn_python_extension reports whether the module with this address is a Python extension module.
bool cairn_python_extension(uintptr_t address);

// cairn_python_line returns the word for the current line of Python of the calling thread; caller if that is not known.
uint64_t cairn_python_line(uint64_t caller);

#endif
