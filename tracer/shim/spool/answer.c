#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../../ring/ring.h"
#include "../process/config.h"
#include "spool.h"

static void *mapped; // NULL: it could not be mapped

void cairn_answer_begin(void)
{
	mapped = cairn_spool_answer("compressor", sizeof(struct cairn_compressor) + 8 * CAIRN_RING);
}

static ssize_t read_file(void *to, size_t size)
{
	char path[sizeof(cairn_config.spool) + 600];
	int file;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/compressor", cairn_spool_directory);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return 0;
	n = read(file, to, size);
	close(file);
	return n;
}

// Only the kernel looks at the mapped memory: a file that becomes shorter would be a SIGBUS. The
// process has the number of its main thread, which may have ended.
ssize_t cairn_answer_read(void *to, size_t size)
{
	const struct iovec local = {to, size}, remote = {mapped, size};
	ssize_t n;

	if (mapped != NULL &&
	    ((n = process_vm_readv((pid_t)syscall(SYS_gettid), &local, 1, &remote, 1, 0)) >= 0 || errno == EFAULT))
		return n;
	return read_file(to, size); // not every sandbox has this call
}
