#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../process/config.h"
#include "../process/memory.h"
#include "../process/opened.h"
#include "../process/state.h"
#include "budget.h"
#include "tmpfs.h"

char cairn_spool_directory[sizeof(cairn_config.spool) + 512];

static char failure[sizeof(cairn_spool_directory) + 256];

// The record buffers that are used again are slots of a file, ring-0.seg, which has holes where none
// has been used so far. The file is mapped when MPI_Init takes the first one: later there may be no
// address space, no descriptor, or no right to make a file. What a tmpfs has no room for is in
// ring-1.seg.
static struct {
	char *memory; // NULL: there is none
	uint64_t slot; // bytes
	bool tried, on_tmpfs;
} ring;

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

// write_at writes to a file.
static bool write_at(int file, const char *from, uint64_t size, uint64_t at)
{
	while (size > 0) {
		const ssize_t n = pwrite(file, from, size, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

// write_process writes process.json under a name that nobody reads, and then gives it its own.
static bool write_process(const char *text, uint64_t size)
{
	char temporary[sizeof(cairn_spool_directory) + 64], path[sizeof(temporary)];
	const int file = cairn_spool_fits(size) ? open_new(cairn_spool_directory, "process.json.new", O_WRONLY) : -1;

	if (file < 0)
		return false;
	snprintf(temporary, sizeof(temporary), "%s/process.json.new", cairn_spool_directory);
	snprintf(path, sizeof(path), "%s/process.json", cairn_spool_directory);
	const bool written = write_at(file, text, size, 0) && rename(temporary, path) == 0;
	const int error = errno;
	if (!written)
		unlink(temporary);
	close(file);
	errno = error;
	return written;
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
	if (mkdir(cairn_spool_directory, mode) != 0 || chmod(cairn_spool_directory, mode) != 0 || !take_lock() || !write_process(process_json, charged))
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

// charge takes room for a file from the budget.
static bool charge(size_t size, bool reserved)
{
	// A process may use as much as is left for all others, and the last sixteenth is reserved for
	// processes that begin. The compressor has the same rule.
	const uint64_t kept = cairn_budget_limit() / 16, reserve = reserved ? 0 : kept > charged + size ? kept : charged + size;

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

// map_new creates and maps a file; holes: nothing of it is allocated.
static void *map_new(const char *directory, const char *name, size_t size, bool holes)
{
	void *memory = NULL;
	const int file = cairn_spool_fits(size) ? open_new(directory, name, O_RDWR) : -1;
	int error;

	if (file < 0)
		return NULL;
	do {
		if (holes)
			error = ftruncate(file, (off_t)size) == 0 ? 0 : errno;
		else
			error = posix_fallocate(file, 0, (off_t)size); // writes zeros where the file system cannot allocate
	} while (error == EINTR);
	if (error == 0) {
		memory = cairn_map(size, PROT_READ | PROT_WRITE, file);
		error = errno;
	}
	close(file);
	if (memory != NULL) {
		if (holes) // or a store to a hole reads, and fills, as much around it as the disk likes to read ahead
			(void)cairn_advise(memory, size, MADV_RANDOM);
		return memory;
	}
	remove_new(directory, name);
	errno = error;
	return NULL;
}

// map creates and maps a file of the process's directory.
static void *map(const char *name, size_t size, bool reserved)
{
	void *memory = NULL;

	if (charge(size, reserved) && (memory = map_new(cairn_spool_directory, name, size, false)) == NULL)
		release_budget(size);
	return memory;
}

void *cairn_spool_map(const char *name, size_t size, bool reserved)
{
	const char *directory = cairn_tmpfs_directory(cairn_spool_directory, size);
	static char path[sizeof(cairn_spool_directory) + 64];
	void *memory = NULL;

	if (directory != NULL && (memory = map_new(directory, name, size, false)) == NULL) {
		cairn_tmpfs_give_up();
		directory = NULL;
	}
	if (memory == NULL)
		memory = map(name, size, reserved);
	snprintf(path, sizeof(path), "%s/%s", directory != NULL ? directory : cairn_spool_directory, name);
	if (memory != NULL && cairn_config.shared_spool)
		(void)chmod(path, 0666); // the compressor is another user
	return memory;
}

// own_limit_allows reports whether the limit of this process alone, if it has one, allows so many
// more bytes of buffers.
static bool own_limit_allows(uint64_t size)
{
	const uint64_t limit = cairn_budget_limit() == 0 ? (uint64_t)cairn_config.spool_limit_bytes : 0;

	return limit == 0 || buffers - removed + compressed + size <= limit;
}

enum {
	MIN_SIZE = 28 << 10, // with room for some records beside the reserve for nested calls (record.h)
	USUAL_SIZE = 128 << 10,
	MAX_SIZE = 1 << 30,
	RING_BYTES = 8 << 20, // two checkpoints are written per round, unless they are larger
};

static uint64_t pages(uint64_t size)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static uint64_t usual_size(void)
{
	const uint64_t wanted = cairn_config.buffer_bytes > 0 ? (uint64_t)cairn_config.buffer_bytes : USUAL_SIZE;

	return pages(wanted < MIN_SIZE ? MIN_SIZE : wanted > MAX_SIZE ? MAX_SIZE : wanted);
}

// map_ring maps the ring: with smaller slots where there is no room for the usual ones.
static void map_ring(const char *directory, uint64_t slot)
{
	for (ring.slot = 0; slot >= MIN_SIZE && slot != ring.slot && ring.memory == NULL; slot = pages(slot / 2)) {
		ring.slot = slot; // half of a page is a page
		ring.memory = map_new(directory, "ring-0.seg", CAIRN_RING * slot, true);
		if (ring.memory == NULL && errno != ENOMEM && errno != EAGAIN && errno != EFBIG) // EAGAIN: RLIMIT_MEMLOCK
			return;
	}
}

// leave_tmpfs continues the ring in the spool. The slots so far stay where they are.
static void leave_tmpfs(void)
{
	const uint64_t slot = ring.slot;

	cairn_tmpfs_give_up();
	ring.on_tmpfs = false;
	ring.memory = map_new(cairn_spool_directory, "ring-1.seg", CAIRN_RING * slot, true);
}

// begin_ring decides where the ring is.
static void begin_ring(void)
{
	const uint64_t slot = usual_size();
	const char *directory = cairn_tmpfs_directory(cairn_spool_directory, 0); // it has holes only

	ring.tried = true;
	if (directory != NULL)
		map_ring(directory, slot);
	ring.on_tmpfs = ring.memory != NULL;
	if (!ring.on_tmpfs)
		map_ring(cairn_spool_directory, slot);
}

// allocate gives pages of a mapped file their blocks. Where that is not possible a store would be a
// SIGBUS; what the kernel stores for us fails.
static bool allocate(char *memory, uint64_t size)
{
	enum { POPULATE_WRITE = 23 }; // of Linux 5.14, where it is permitted
	const uint64_t page = pages(1);

	if (cairn_advise(memory, size, POPULATE_WRITE) == 0)
		return true;
	if (errno == EFAULT || errno == ENOMEM)
		return false;
	for (uint64_t at = 0; at < size; at += page)
		if (syscall(SYS_rt_sigpending, memory + at, (size_t)8) != 0)
			return false;
	return true;
}

struct cairn_buffer *cairn_spool_slot(uint32_t number, uint64_t minimum)
{
	char *at;

	if (!ring.tried)
		begin_ring();
	if (minimum > ring.slot - CAIRN_BUFFER_HEADER || (number > 0 && (number + 1) * ring.slot > RING_BYTES))
		return NULL;
	if (ring.on_tmpfs && (cairn_tmpfs_directory(cairn_spool_directory, ring.slot) == NULL || !allocate(ring.memory + number * ring.slot, ring.slot)))
		leave_tmpfs();
	if (ring.memory == NULL)
		return NULL;
	at = ring.memory + number * ring.slot;
	if (!ring.on_tmpfs) {
		if (!own_limit_allows(ring.slot) || !charge(ring.slot, number == 0))
			return NULL;
		if (!allocate(at, ring.slot)) {
			release_budget(ring.slot);
			return NULL;
		}
		buffers += ring.slot;
	}
	((struct cairn_buffer *)at)->capacity = ring.slot - CAIRN_BUFFER_HEADER;
	return (struct cairn_buffer *)at;
}

struct cairn_buffer *cairn_spool_buffer(const char *name, uint64_t minimum, bool small, bool first, const char **why)
{
	const uint64_t needed = pages(minimum + CAIRN_BUFFER_HEADER), wanted = small ? pages(MIN_SIZE) : usual_size(), size = needed > wanted ? needed : wanted;
	struct cairn_buffer *s;

	if (size > MAX_SIZE) {
		snprintf(failure, sizeof(failure), "a record of %llu bytes is too large", (unsigned long long)minimum);
		*why = failure;
		return NULL;
	}
	if (!own_limit_allows(size)) {
		*why = limit_reached();
		return NULL;
	}
	if ((s = map(name, size, first)) == NULL) {
		*why = errno == EDQUOT && cairn_budget_limit() > 0 ? limit_reached() : cannot_write(errno);
		return NULL;
	}
	buffers += size;
	s->capacity = size - CAIRN_BUFFER_HEADER;
	return s;
}

bool cairn_spool_has_space(void)
{
	const uint64_t enough = 8ULL << 30;
	struct statvfs disk;

	if (statvfs(cairn_spool_directory, &disk) != 0)
		return true;
	const uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
	return disk.f_bavail >= disk.f_blocks / 8 || (cairn_budget_limit() == 0 && left >= enough);
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

// write_copy writes a buffer to a slot of a file. The header comes last: with it the copy is there.
static bool write_copy(int file, uint32_t slot, const struct cairn_buffer *buffer, uint64_t used)
{
	const uint64_t at = slot * ring.slot;

	return (slot > 0 || ftruncate(file, (off_t)(CAIRN_COPIES * ring.slot)) == 0) &&
	       write_at(file, (const char *)buffer + CAIRN_BUFFER_HEADER, used, at + CAIRN_BUFFER_HEADER) &&
	       write_at(file, (const char *)buffer, CAIRN_BUFFER_HEADER, at);
}

bool cairn_spool_copy(uint32_t number, const struct cairn_buffer *buffer, uint64_t used)
{
	static char name[32], path[sizeof(cairn_spool_directory) + 64]; // threads may have small stacks
	const uint32_t slot = number % CAIRN_COPIES;
	const uint64_t size = CAIRN_BUFFER_HEADER + used;
	int file;

	if (!cairn_spool_fits(CAIRN_COPIES * ring.slot) || !own_limit_allows(size) || !charge(size, false))
		return false;
	snprintf(name, sizeof(name), "copies-%u.seg", number / CAIRN_COPIES);
	snprintf(path, sizeof(path), "%s/%s", cairn_spool_directory, name);
	file = slot == 0 ? open_new(cairn_spool_directory, name, O_WRONLY) : open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const bool written = file >= 0 && write_copy(file, slot, buffer, used);
	if (file >= 0)
		close(file);
	if (written) {
		buffers += size;
		return true;
	}
	if (file >= 0 && slot == 0)
		remove_new(cairn_spool_directory, name);
	release_budget(size);
	return false;
}

void cairn_spool_compressed(uint64_t bytes, uint64_t removed_bytes)
{
	// The compressor has returned what it removed to a shared budget.
	const uint64_t more = removed_bytes - removed;
	removed = removed_bytes; // before: whoever is interrupted here must not subtract it twice
	charged -= more;
	compressed = bytes;
}
