#include "opened.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// stat_file is fstat, which is a symbol of libc only since 2.33.
static bool stat_file(int file, struct stat *s)
{
	return syscall(SYS_fstat, file, s) == 0;
}

void cairn_open_file(struct cairn_opened *o, const char *path)
{
	enum { FAR = 500 };
	struct stat s;
	int low = open(path, O_RDONLY | O_CLOEXEC);

	o->file = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, FAR);
	if (low >= 0)
		close(low);
	if (o->file >= 0 && stat_file(o->file, &s)) {
		o->device = s.st_dev;
		o->inode = s.st_ino;
	} else if (o->file >= 0) {
		close(o->file);
		o->file = -1;
	}
}

ssize_t cairn_read_again(struct cairn_opened *o, char *text, size_t size)
{
	struct stat s;
	ssize_t n = -1;

	if (o->file < 0)
		return -1;
	if (stat_file(o->file, &s) && s.st_dev == o->device && s.st_ino == o->inode)
		n = pread(o->file, text, size - 1, 0);
	if (n <= 0) {
		o->file = -1; // not ours to close
		return -1;
	}
	text[n] = 0;
	return n;
}
