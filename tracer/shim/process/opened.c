#include "opened.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	OURS_FROM = 500,        // ours have numbers from this one on
	ENOUGH = 2 * OURS_FROM, // a limit under which there is room for all of ours
	NEEDED = 2,             // the lock and the dictionary have to stay open under any limit
};

static rlim_t limit_of_descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// first_number returns the number from which on ours are. Under a low limit they are the last ones,
// so that the program's have the numbers that they have without the tracer.
static int first_number(void)
{
	const rlim_t limit = limit_of_descriptors();

	if (limit >= ENOUGH)
		return OURS_FROM;
	return limit > 3 + NEEDED ? (int)limit - NEEDED : 3; // 0 to 2 are the program's
}

void cairn_keep_open(struct cairn_opened *o, int file)
{
	struct stat s;

	o->file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, first_number());
	if (o->file < 0 && file > 2)
		o->file = file;
	if (file >= 0 && file != o->file)
		(void)syscall(SYS_close, file);
	if (o->file >= 0 && cairn_stat_file(o->file, &s)) {
		o->device = s.st_dev;
		o->inode = s.st_ino;
	} else if (o->file >= 0) {
		(void)syscall(SYS_close, o->file);
		o->file = -1;
	}
}

bool cairn_is_open(const struct cairn_opened *o)
{
	struct stat s;

	return o->file >= 0 && cairn_stat_file(o->file, &s) && s.st_dev == o->device && s.st_ino == o->inode && s.st_nlink > 0;
}

void cairn_open_file(struct cairn_opened *o, const char *path)
{
	const bool enough = limit_of_descriptors() >= ENOUGH;

	// open and close may end a thread that is canceled
	cairn_keep_open(o, enough ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1);
}

ssize_t cairn_read_again(struct cairn_opened *o, char *text, size_t size)
{
	ssize_t n = -1;

	if (cairn_is_open(o))
		n = syscall(SYS_pread64, o->file, text, size - 1, (off_t)0); // pread may end a thread that is canceled
	if (n <= 0) {
		o->file = -1; // not ours to close
		return -1;
	}
	text[n] = 0;
	return n;
}
