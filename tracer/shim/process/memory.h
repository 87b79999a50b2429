// Mapped memory, by system calls of our own: others replace the C library's functions in the running
// process to learn of what is mapped (UCX's UCM, libfabric's memory hooks), and take locks there.
#ifndef CAIRN_MEMORY_H
#define CAIRN_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// cairn_map maps a file, or memory of which nothing is allocated before it is used (file: -1). NULL:
// it failed, as errno says.
static inline void *cairn_map(size_t size, int protection, int file)
{
	const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
	void *memory = (void *)syscall(SYS_mmap, NULL, size, protection, flags, (long)file, 0L);

	return memory != MAP_FAILED ? memory : NULL;
}

static inline void cairn_unmap(void *memory, size_t size)
{
	(void)syscall(SYS_munmap, memory, size);
}

static inline int cairn_advise(void *memory, size_t size, int advice)
{
	return (int)syscall(SYS_madvise, memory, size, (long)advice);
}

#endif
