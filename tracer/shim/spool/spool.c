#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../process/config.h"
#include "../process/opened.h"
#include "../process/state.h"
#include "budget.h"
#include "tmpfs.h"

char cairn_spool_directory[sizeof(cairn_config.spool) + 512];

static char failure[sizeof(cairn_spool_directory) + 256];

static uint64_t charged; // bytes of this process in the spool's budget
static uint64_t buffers; // bytes of its record buffers
static uint64_t compressed, removed; // as of the last cairn_spool_compressed

static const char *cannot_write(int error)
{
	snprintf(failure, sizeof(failure), "the tracer cannot write to %s: %s", cairn_spool_directory, strerror(error));
	return failure;
}

// limit_reached returns an error: the limit of all processes, or of this one if it has its own, is
// reached.
static const char *limit_reached(void)
{
	const uint64_t shared = cairn_budget_limit(), limit = shared != 0 ? shared : (uint64_t)cairn_config.spool_limit_bytes;

	snprintf(failure, sizeof(failure), "the spool limit of %llu bytes is reached", (unsigned long long)limit);
	return failure;
}

bool cairn_spool_fits(uint64_t size)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur)
		return true;
	errno = EFBIG;
	return false;
}

// open_new creates a file that must not exist, since others may have put something there.
static int open_new(const char *directory, const char *name, int flags)
{
	static char path[sizeof(cairn_spool_directory) + 64]; // threads may have small stacks
	struct stat s;
	int file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = open(path, O_CREAT | O_EXCL | O_CLOEXEC | flags, 0644);
	// Whatever the umask, another user may read it. Checking the mode is cheaper than setting it.
	// (fstat is a symbol of glibc 2.33.)
	if (file >= 0 && (syscall(SYS_fstat, file, &s) != 0 || (s.st_mode & 07777) != 0644))
		(void)fchmod(file, 0644);
	return file;
}

// The lock belongs to the process and not to the open file, so children do not inherit it. The
// kernel releases it when the process ends, however it ends, and shows it to every process on the
// node, even in another PID namespace. Closing any descriptor of the file releases it, too, so this
// one has a high number: some programs close all low ones.
static bool take_lock(void)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct cairn_opened lock;

	cairn_keep_open(&lock, open_new(cairn_spool_directory, "lock", O_RDWR)); // it closes the low one
	return lock.file >= 0 && fcntl(lock.file, F_SETLK, &whole) == 0;
}

// write_file writes a file under a name that nobody reads, and then gives it its own.
static bool write_file(const char *name, const void *content, uint64_t size)
{
	static char temporary[sizeof(cairn_spool_directory) + 64], path[sizeof(temporary)]; // threads may have small stacks
	const int file = open_new(cairn_spool_directory, "copy", O_WRONLY);
	uint64_t at = 0;
	ssize_t n = 0;

	if (file < 0)
		return false;
	while (at < size && ((n = pwrite(file, (const char *)content + at, size - at, (off_t)at)) > 0 || (n < 0 && errno == EINTR)))
		at += n > 0 ? (uint64_t)n : 0;
	snprintf(temporary, sizeof(temporary), "%s/copy", cairn_spool_directory);
	snprintf(path, sizeof(path), "%s/%s", cairn_spool_directory, name);
	if (at == size && rename(temporary, path) == 0) {
		close(file);
		return true;
	}
	const int error = errno;
	unlink(temporary);
	close(file);
	errno = error;
	return false;
}

static const char *make(const char *spool, const char *name, const char *process_json)
{
	// The uploader removes the content later, as another user.
	const mode_t mode = cairn_config.shared_spool ? 0777 : 0755;

	snprintf(cairn_spool_directory, sizeof(cairn_spool_directory), "%s/%s", spool, name);
	// Elsewhere anybody could own the budget file, and truncate it under our stores.
	if (cairn_config.shared_spool && cairn_budget_open(spool) && !cairn_budget_take(strlen(process_json), 0))
		return limit_reached();
	charged = strlen(process_json);
	// The lock comes first, so that readers of process.json can rely on it.
	if (mkdir(cairn_spool_directory, mode) != 0 || chmod(cairn_spool_directory, mode) != 0 || !take_lock() ||
	    !cairn_spool_fits(charged) || !write_file("process.json", process_json, charged))
		return cannot_write(errno);
	return NULL;
}

const char *cairn_spool_make(const char *spool, const char *name, const char *process_json)
{
	const char *failed = make(spool, name, process_json);

	if (failed != NULL)
		cairn_budget_refused();
	return failed;
}

// release_budget returns bytes to the budget that were not allocated.
static void release_budget(size_t size)
{
	charged -= size;
	cairn_budget_add(-(int64_t)size);
}

// write_zeros fills a new file in few calls. Otherwise the first store to each mapped page makes
// the file system look up its block.
static void write_zeros(int file, size_t size)
{
	enum { PIECES = 64, PIECE = 4096 };
	static const char zeros[PIECE];
	struct iovec piece[PIECES];
	size_t at = 0;

	for (int i = 0; i < PIECES; i++)
		piece[i] = (struct iovec){(void *)zeros, PIECE};
	while (at < size) {
		const size_t left = (size - at) / PIECE;
		const ssize_t n = left > 0 ? writev(file, piece, (int)(left < PIECES ? left : PIECES)) : 0;
		if (n <= 0)
			return; // it is only an optimization
		at += (size_t)n;
	}
}

// charge takes room for a file from the budget.
static bool charge(size_t size, bool reserved)
{
	// A process may use as much as is left for all others, and the last sixteenth is reserved for
	// processes that begin. The compressor has the same rule.
	const uint64_t kept = cairn_budget_limit() / 16, reserve = reserved ? 0 : kept > charged + size ? kept : charged + size;

	if (!cairn_spool_fits(size))
		return false;
	if (!cairn_budget_take(size, reserve)) {
		errno = EDQUOT;
		return false;
	}
	charged += size;
	return true;
}

// remove_new removes a file that cannot be used.
static void remove_new(const char *directory, const char *name)
{
	static char path[sizeof(cairn_spool_directory) + 64];
	const int saved = errno;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
	errno = saved;
}

// map_new creates and maps a file; zeroed: it will be used as a whole, and is on a disk.
static void *map_new(const char *directory, const char *name, size_t size, bool zeroed)
{
	void *memory = MAP_FAILED;
	const int file = open_new(directory, name, O_RDWR);
	int error;

	if (file < 0)
		return NULL;
	do
		error = posix_fallocate(file, 0, (off_t)size); // writes zeros where the file system cannot allocate
	while (error == EINTR);
	if (error == 0 && zeroed)
		write_zeros(file, size);
	if (error == 0) {
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		error = errno;
	}
	close(file);
	if (memory != MAP_FAILED)
		return memory;
	errno = error;
	remove_new(directory, name);
	return NULL;
}

// map creates and maps a file of the process's directory.
static void *map(const char *name, size_t size, bool reserved, bool zeroed)
{
	void *memory = NULL;

	if (charge(size, reserved) && (memory = map_new(cairn_spool_directory, name, size, zeroed)) == NULL)
		release_budget(size);
	return memory;
}

// map_on_tmpfs does so in the process's folder on a tmpfs, if it may.
static void *map_on_tmpfs(const char *name, size_t size)
{
	const char *directory = cairn_spool_fits(size) ? cairn_tmpfs_directory(cairn_spool_directory, size) : NULL;
	void *memory = NULL;

	if (directory != NULL && (memory = map_new(directory, name, size, false)) == NULL)
		cairn_tmpfs_give_up();
	return memory;
}

void *cairn_spool_map(const char *name, size_t size, bool reserved)
{
	void *memory = map_on_tmpfs(name, size);

	return memory != NULL ? memory : map(name, size, reserved, false);
}

uint64_t cairn_spool_buffer_bytes(void)
{
	return cairn_config.buffer_bytes > 0 ? (uint64_t)cairn_config.buffer_bytes : 128 << 10;
}

// own_limit_allows reports whether the limit of this process alone, if it has one, allows so many
// more bytes of buffers.
static bool own_limit_allows(uint64_t size)
{
	const uint64_t limit = cairn_budget_limit() == 0 ? (uint64_t)cairn_config.spool_limit_bytes : 0;

	return limit == 0 || buffers - removed + compressed + size <= limit;
}

struct cairn_buffer *cairn_spool_buffer(const char *name, uint64_t minimum, uint64_t size, bool first, bool member, const char **why)
{
	enum { MIN_SIZE = CAIRN_BUFFER_HEADER + 4096, MAX_SIZE = 1 << 30 };
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct cairn_buffer *s;

	if (minimum > MAX_SIZE - CAIRN_BUFFER_HEADER) {
		snprintf(failure, sizeof(failure), "a record of %llu bytes is too large", (unsigned long long)minimum);
		*why = failure;
		return NULL;
	}
	if (size < MIN_SIZE)
		size = MIN_SIZE;
	if (size < minimum + CAIRN_BUFFER_HEADER)
		size = minimum + CAIRN_BUFFER_HEADER;
	size = (size + page - 1) / page * page;
	s = member ? map_on_tmpfs(name, size) : NULL;
	if (s == NULL) {
		if (!own_limit_allows(size)) {
			*why = limit_reached();
			return NULL;
		}
		if ((s = map(name, size, first, !first)) == NULL) {
			*why = errno == EDQUOT && cairn_budget_limit() > 0 ? limit_reached() : cannot_write(errno);
			return NULL;
		}
		buffers += size;
	}
	s->capacity = size - CAIRN_BUFFER_HEADER;
	return s;
}

bool cairn_spool_has_space(void)
{
	struct statvfs disk;

	return statvfs(cairn_spool_directory, &disk) != 0 || disk.f_bavail >= disk.f_blocks / 8;
}

bool cairn_spool_is_nearly_full(bool already)
{
	const uint64_t shared = cairn_budget_limit(), own = (uint64_t)cairn_config.spool_limit_bytes, limit = shared != 0 ? shared : own;
	const uint64_t used = shared != 0 ? cairn_budget_used() : buffers - removed + compressed;
	const uint64_t left = used < limit ? limit - used : 0;
	// what this process may still take of a shared budget, by the rule of charge
	const uint64_t more = left > charged ? (left - charged) / 2 : 0;

	if (limit == 0)
		return false;
	if (already)
		return left < limit / 8 * 3 || (shared != 0 && more < charged / 2);
	return left < limit / 4 || (shared != 0 && more < charged / 3);
}

bool cairn_spool_copy(const char *name, const struct cairn_buffer *buffer, uint64_t size)
{
	if (!own_limit_allows(size) || !charge(size, false))
		return false;
	if (!write_file(name, buffer, size)) {
		release_budget(size);
		return false;
	}
	buffers += size;
	return true;
}

void cairn_spool_compressed(uint64_t bytes, uint64_t removed_bytes)
{
	// The compressor has returned what it removed to a shared budget.
	charged -= removed_bytes - removed;
	compressed = bytes;
	removed = removed_bytes;
}
