// Kernel files that are read repeatedly: opening one costs several times as much as reading it.
#ifndef CAIRN_OPENED_H
#define CAIRN_OPENED_H

#include <stddef.h>
#include <sys/types.h>

// An open file. The program may have closed it, and opened another one with its number.
struct cairn_opened {
	int file; // −1: none
	dev_t device;
	ino_t inode;
};

// cairn_open_file opens a file with a high number, since some programs close all low descriptors.
void cairn_open_file(struct cairn_opened *o, const char *path);

// cairn_read_again reads the file from its beginning into text and terminates it with a zero byte.
// It returns the number of bytes, or −1 if the descriptor does not refer to that file any more; it
// then always returns −1.
ssize_t cairn_read_again(struct cairn_opened *o, char *text, size_t size);

#endif
