// A core that only keeps buffers, for tests of the shim alone: every full buffer stays as a file. It stops tracing after
// STUB_BUFFERS of them, if that is set.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char directory[4096];
static unsigned long long most = ~0ull;
static _Atomic unsigned long long taken;

int cairn_core_start(const char *process)
{
	if (getenv("STUB_BUFFERS") != NULL)
		most = strtoull(getenv("STUB_BUFFERS"), NULL, 10);
	snprintf(directory, sizeof(directory), "%s", process);
	return 0;
}

void cairn_core_adopt(void *events)
{
	(void)events; // they stay files too
}

void *cairn_core_segment(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity)
{
	static __thread uint64_t mapped; // of full; 0: the shim made it
	const uint64_t sequence = full != NULL ? ((uint64_t *)full)[2] + 1 : 0;
	uint64_t size = 4096 + (minimum > 32768 ? (minimum + 4095) & ~4095ull : 32768);
	char path[8192];

	if (mapped != 0)
		munmap(full, mapped);
	if (taken++ >= most)
		return NULL;
	snprintf(path, sizeof(path), "%s/%u-%06llu.seg", directory, thread, (unsigned long long)sequence);
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0 || posix_fallocate(file, 0, (off_t)size) != 0)
		return NULL;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, "CAIRNSEG", 8);
	((uint32_t *)p)[2] = 1;
	((uint32_t *)p)[3] = thread;
	((uint64_t *)p)[2] = sequence;
	mapped = size;
	*capacity = size - 4096;
	return p;
}
