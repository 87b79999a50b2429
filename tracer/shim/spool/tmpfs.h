// The process's folder on a tmpfs, for files that are mapped all the time
// (docs/decisions/0110-tmpfs.md). What is there is never written to a disk, so stores to it do not
// wait for one. But it is memory of this process's cgroup that cannot be reclaimed.
#ifndef CAIRN_TMPFS_H
#define CAIRN_TMPFS_H

#include <stdint.h>

// cairn_tmpfs_directory returns the path of the folder if size more bytes may be allocated in it,
// and takes them from what it has room for. The folder has the name of the process's directory.
// From the first time that there is no room it returns NULL. Calls must not be concurrent.
const char *cairn_tmpfs_directory(const char *process_directory, uint64_t size);

// cairn_tmpfs_give_up has cairn_tmpfs_directory return NULL from now on.
void cairn_tmpfs_give_up(void);

#endif
