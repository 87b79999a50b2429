// Short texts of the kernel, in /proc and of cgroups.
#ifndef CAIRN_KERNEL_FILE_H
#define CAIRN_KERNEL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "../process/opened.h"

// cairn_read_small reads a kernel file that one read returns completely; NULL if it cannot.
char *cairn_read_small(const char *path, char *text, size_t size);

// cairn_read_opened reads a file that is kept open, or opens it for one reading if it was closed.
char *cairn_read_opened(struct cairn_opened *o, const char *path, char *text, size_t size);

// cairn_line_of returns the number in the line that begins with a name, −1 if there is none.
int64_t cairn_line_of(const char *text, const char *name);

#endif
