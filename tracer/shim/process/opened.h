// Files that stay open. Each has a high number, since some programs close all low descriptors. The
// program may still have closed one, and opened a file of its own with its number.
#ifndef CAIRN_OPENED_H
#define CAIRN_OPENED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// cairn_stat_file is fstat, which is a symbol of libc only since 2.33.
static inline bool cairn_stat_file(int file, struct stat *s)
{
	return syscall(SYS_fstat, file, s) == 0;
}

// An open file.
struct cairn_opened {
	int file; // −1: none
	dev_t device;
	ino_t inode;
};

// cairn_keep_open takes over an open file, or −1 if there is none, and gives it a high number.
void cairn_keep_open(struct cairn_opened *o, int file);

// cairn_is_open reports whether the descriptor still refers to that file, and the file has a name.
bool cairn_is_open(const struct cairn_opened *o);

// cairn_open_file opens a file of the kernel, which is then read again and again: opening one costs
// several times as much as reading it. Under a low limit of descriptors it does not stay open.
void cairn_open_file(struct cairn_opened *o, const char *path);

// cairn_read_again reads the file from its beginning into text and terminates it with a zero byte.
// It returns the number of bytes, or −1 if the descriptor does not refer to that file any more; it
// then always returns −1.
ssize_t cairn_read_again(struct cairn_opened *o, char *text, size_t size);

#endif
