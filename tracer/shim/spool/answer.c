#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../ring/ring.h"
#include "../process/config.h"
#include "../process/state.h"
#include "spool.h"

enum { BYTES = sizeof(struct cairn_compressor) + 8 * CAIRN_RING };

static atomic_flag mapping = ATOMIC_FLAG_INIT; // somebody maps
static _Atomic(void *) mapped;                 // NULL: not so far

static int open_file(void)
{
	char path[sizeof(cairn_config.spool) + 600];

	snprintf(path, sizeof(path), "%s/compressor", cairn_spool_directory);
	return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// map does not wait for another thread: that may be what a signal handler has interrupted.
static void *map(void)
{
	if (mapped == NULL && !atomic_flag_test_and_set(&mapping)) {
		const int file = mapped == NULL ? open_file() : -1;
		if (file >= 0) {
			void *memory = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
			if (memory != MAP_FAILED)
				mapped = memory;
			close(file);
		}
		atomic_flag_clear(&mapping);
	}
	return mapped;
}

uint64_t cairn_answer_watch(void)
{
	enum { PAUSE_NS = 100000000, OFTEN = 32 };
	static uint32_t calls;

	if (atomic_load(&cairn_state) == CAIRN_OFF || mapped != NULL)
		return UINT64_MAX;
	calls++; // where there is no compressor it looks ever more rarely
	return (calls < OFTEN || (calls & (calls - 1)) == 0) && map() != NULL ? UINT64_MAX : PAUSE_NS;
}

// Only the kernel looks at the mapped memory: a file that becomes shorter would be a SIGBUS. The
// process has the number of its main thread, which may have ended.
ssize_t cairn_answer_read(void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {map(), size};
	ssize_t n;

	if (remote.iov_base != NULL &&
	    ((n = process_vm_readv((pid_t)syscall(SYS_gettid), &local, 1, &remote, 1, 0)) >= 0 || errno == EFAULT))
		return n;
	// not every sandbox has this call
	const int file = open_file();
	if (file < 0)
		return 0;
	n = read(file, to, size);
	close(file);
	return n;
}
