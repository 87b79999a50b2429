// A core that only keeps segments, for tests of the shim alone: every full segment stays as a file.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[4096];

int cairn_core_start(const char *spool, const char *process_json)
{
	const char *name = strstr(process_json, "\"directory\":\"") + sizeof("\"directory\":\"") - 1;
	char path[8192];
	snprintf(directory, sizeof(directory), "%s/%.*s", spool, (int)strcspn(name, "\""), name);
	if (mkdir(directory, 0755) != 0)
		return errno;
	snprintf(path, sizeof(path), "%s/process.json", directory);
	int file = open(path, O_WRONLY | O_CREAT, 0644);
	if (file < 0 || write(file, process_json, strlen(process_json)) < 0)
		return errno;
	close(file);
	return 0;
}

void *cairn_core_segment(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity)
{
	static __thread uint64_t sequence;
	static __thread uint64_t mapped;
	uint64_t size = 4096 + (minimum > 65536 ? (minimum + 4095) & ~4095ull : 65536);
	char path[8192];

	if (full != NULL)
		munmap(full, mapped);
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
	((uint64_t *)p)[2] = sequence++;
	mapped = size;
	*capacity = size - 4096;
	return p;
}
