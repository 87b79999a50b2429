// Files of the kernel's that are read again and again: to open one costs several times as much as to read it.
#ifndef CAIRN_OPENED_H
#define CAIRN_OPENED_H

#include <stddef.h>
#include <sys/types.h>

// The program may have closed it, and opened another one of that number.
struct cairn_opened {
	int file; // −1: none
	dev_t device;
	ino_t inode;
};

// cairn_open_file opens a file out of the way of programs that close all low descriptors.
void cairn_open_file(struct cairn_opened *o, const char *path);

// cairn_read_again reads the file from its beginning into text, which it ends with a 0. It returns the number of bytes, or −1
// when the file is not what was opened any more, then and ever after.
ssize_t cairn_read_again(struct cairn_opened *o, char *text, size_t size);

#endif
