// The line of Python that made a call, in place of the address in the extension module that called MPI for it
// (docs/decisions/0038-python.md).
#ifndef CAIRN_PYTHON_H
#define CAIRN_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

// cairn_python_extension reports whether the module with this address is an extension of Python.
bool cairn_python_extension(uintptr_t address);

// cairn_python_line returns the word for the line of Python that the calling thread is at; caller where that is not known.
uint64_t cairn_python_line(uint64_t caller);

#endif
