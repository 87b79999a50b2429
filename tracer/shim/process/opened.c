#include "opened.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FAR = 500 };

// far returns the number from which on ours are. Under a low limit they are the last ones, so that
// the program's have the numbers that they have without the tracer.
static int far(void)
{
	enum { MOST = 2 }; // the lock and the dictionary, which have to stay open
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= 2 * FAR)
		return FAR;
	return limit.rlim_cur > 3 + MOST ? (int)limit.rlim_cur - MOST : 3; // 0 to 2 are the program's
}

void cairn_keep_open(struct cairn_opened *o, int file)
{
	struct stat s;

	o->file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, far());
	if (o->file < 0 && file > 2)
		o->file = file;
	if (file >= 0 && file != o->file)
		close(file);
	if (o->file >= 0 && cairn_stat_file(o->file, &s)) {
		o->device = s.st_dev;
		o->inode = s.st_ino;
	} else if (o->file >= 0) {
		close(o->file);
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
	cairn_keep_open(o, far() < FAR ? -1 : open(path, O_RDONLY | O_CLOEXEC));
}

ssize_t cairn_read_again(struct cairn_opened *o, char *text, size_t size)
{
	ssize_t n = -1;

	if (cairn_is_open(o))
		n = pread(o->file, text, size - 1, 0);
	if (n <= 0) {
		o->file = -1; // not ours to close
		return -1;
	}
	text[n] = 0;
	return n;
}
