// What the compressor answers: a file of the process's directory that the compressor writes to
// (struct cairn_compressor, and what follows it).
#ifndef CAIRN_ANSWER_H
#define CAIRN_ANSWER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// cairn_answer_begin creates and maps the file: later the process may have lost the descriptors or
// the right to open it.
void cairn_answer_begin(void);

// cairn_answer_read copies the first size bytes of the file. It returns the number of bytes; 0 or -1
// if it cannot be read.
ssize_t cairn_answer_read(void *to, size_t size);

#endif
