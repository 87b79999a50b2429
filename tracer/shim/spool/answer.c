#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../ring/ring.h"
#include "../process/config.h"
#include "spool.h"

enum { BYTES = sizeof(struct cairn_compressor) + 8 * CAIRN_RING };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *mapped; // NULL: not so far

static int open_file(void)
{
	static char path[sizeof(cairn_config.spool) + 600]; // threads may have small stacks

	snprintf(path, sizeof(path), "%s/compressor", cairn_spool_directory);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static bool map(void)
{
	const int file = mapped == NULL ? open_file() : -1;

	if (file >= 0) {
		void *memory = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
		mapped = memory != MAP_FAILED ? memory : NULL;
		close(file);
	}
	return mapped != NULL;
}

uint64_t cairn_answer_watch(void)
{
	enum { MAX_PAUSE_NS = 2000000000 };
	static uint64_t pause = 50000000;

	pthread_mutex_lock(&lock);
	const bool there = map();
	pthread_mutex_unlock(&lock);
	if (pause < MAX_PAUSE_NS)
		pause *= 2;
	return there ? UINT64_MAX : pause;
}

// copy has the kernel alone look at the mapped memory: a file that becomes shorter would be a
// SIGBUS.
static ssize_t copy(void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {mapped, size};
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	if (n < 0 && errno != EFAULT) { // not every sandbox has this call
		const int file = open_file();
		n = read(file, to, size);
		close(file);
	}
	return n;
}

ssize_t cairn_answer_read(void *to, size_t size)
{
	pthread_mutex_lock(&lock);
	const ssize_t n = map() ? copy(to, size) : 0;
	pthread_mutex_unlock(&lock);
	return n;
}
