#include "tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../process/config.h"

enum {
	LIMIT_PART = 50, // all files on the tmpfs have at most this part of a limit of memory
	SPARE_PART = 8,	 // this part of a limit must be free
	LIMITS = 4,	 // limits that are asked; more of them allow nothing
};

// Files of a memory cgroup.
struct interface {
	const char *root, *limit, *usage, *inactive;
};

static const struct interface v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "\ntotal_inactive_file "};
static const struct interface v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file "};

// The memory cgroups that have a limit. They are found once, since that takes longer than making a
// file: a limit that is new later is not seen.
static struct cgroup {
	const struct interface *in;
	char path[512];
	uint64_t room; // bytes that it still allowed when it was read last
} limited[LIMITS + 1];
static int limits = -1; // number of them; -1: they have not been looked for

static char directory[sizeof(cairn_config.spool) + 512];
static bool made, refused;
static uint64_t room; // bytes that the tmpfs still had for us when it was asked last
static uint64_t used; // bytes of all files on it then

// read_text reads the beginning of a small file.
static bool read_text(const char *path, char *text, size_t size)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	if (file >= 0) {
		n = read(file, text, size - 1);
		close(file);
	}
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static bool read_cgroup(const struct cgroup *c, const char *name, char *text, size_t size)
{
	static char path[sizeof(c->path) + 128];

	snprintf(path, sizeof(path), "%s%s/%s", c->in->root, c->path, name);
	return read_text(path, text, size);
}

// has_limit reports whether a cgroup has a limit. Without one, version 2 says "max" and version 1 a
// number of pages that is hardly less than 2^63 bytes.
static bool has_limit(const struct cgroup *c)
{
	char text[32];

	return read_cgroup(c, c->in->limit, text, sizeof(text)) && text[0] != 'm' && strtoull(text, NULL, 10) < (uint64_t)1 << 62;
}

// note_limits notes a cgroup and all above it that this process sees. In a container its own is at
// the root, whatever its path on the host.
static void note_limits(const struct interface *in, char *path)
{
	while (limits <= LIMITS) {
		struct cgroup *c = &limited[limits];
		char *last = strrchr(path, '/');
		c->in = in;
		if (snprintf(c->path, sizeof(c->path), "%s", path) >= (int)sizeof(c->path))
			limits = LIMITS + 1;
		else if (has_limit(c))
			limits++;
		if (last == NULL)
			return;
		*last = 0;
	}
}

// find_limits finds the memory cgroups of this process that have a limit.
static void find_limits(void)
{
	static char text[8192]; // lines "7:memory:/path" (v1) or "0::/path" (v2)
	char *rest, *line;

	limits = 0;
	if (!read_text("/proc/self/cgroup", text, sizeof(text)))
		limits = LIMITS + 1;
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
		if (path == NULL)
			continue;
		*path++ = 0;
		const bool unified = controllers[1] == 0;
		if (unified || strcmp(controllers + 1, "memory") == 0)
			note_limits(unified ? &v2 : &v1, path);
	}
}

static uint64_t difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// read_room reads how much a cgroup's limit still allows with a wide margin. What other files' pages
// use is counted as free if the kernel takes it back first.
static void read_room(struct cgroup *c)
{
	static char limit[32], usage[32], stat[8192];

	if (!read_cgroup(c, c->in->limit, limit, sizeof(limit)) || !read_cgroup(c, c->in->usage, usage, sizeof(usage)) ||
	    !read_cgroup(c, "memory.stat", stat, sizeof(stat)))
		return; // the process may have no descriptor now
	const uint64_t most = limit[0] == 'm' ? UINT64_MAX : strtoull(limit, NULL, 10); // "max": the limit was taken away
	const char *found = strstr(stat, c->in->inactive);
	const uint64_t inactive = found != NULL ? strtoull(found + strlen(c->in->inactive), NULL, 10) : 0;
	const uint64_t part = difference(most / LIMIT_PART, used);
	const uint64_t margin = difference(most - most / SPARE_PART, difference(strtoull(usage, NULL, 10), inactive));
	c->room = part < margin ? part : margin;
}

// take takes bytes from what there is room for.
static bool take(uint64_t *from, uint64_t size)
{
	if (size > *from)
		return false;
	*from -= size;
	return true;
}

// memory_allows reports whether the limits of this process's memory allow a file of this size on
// the tmpfs.
static bool memory_allows(uint64_t size)
{
	if (limits < 0)
		find_limits();
	if (limits > LIMITS)
		return false;
	for (int i = 0; i < limits; i++) {
		read_room(&limited[i]);
		if (!take(&limited[i].room, size))
			return false;
	}
	return true;
}

// owner_of returns the owner of a file, or -1. (fstat is a symbol of glibc 2.33.)
static int64_t owner_of(const char *path)
{
	const int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int64_t owner = -1;
	struct stat s;

	if (file < 0)
		return -1;
	if (syscall(SYS_fstat, file, &s) == 0)
		owner = s.st_uid;
	close(file);
	return owner;
}

// make makes the folder. Readers follow only a link of the spool's owner.
static bool make(const char *link, const char *process_directory)
{
	const mode_t mode = cairn_config.shared_spool ? 0777 : 0755;
	const char *name = strrchr(process_directory, '/');
	const int64_t owner = owner_of(link);

	if (name == NULL || owner < 0 || owner != owner_of(cairn_config.spool) ||
	    snprintf(directory, sizeof(directory), "%s%s", link, name) >= (int)sizeof(directory))
		return false;
	return mkdir(directory, mode) == 0 && chmod(directory, mode) == 0;
}

// allows reports whether the tmpfs has room. Half of it stays free for others.
static bool allows(const char *link, uint64_t size)
{
	struct statfs fs;

	if (statfs(link, &fs) == 0) { // or else the process may have lost the right to look
		used = (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
		room = fs.f_type == TMPFS_MAGIC ? difference(fs.f_blocks / 2 * (uint64_t)fs.f_bsize, used) : 0;
	}
	if (!take(&room, size) || !memory_allows(size))
		return false;
	used += size;
	return true;
}

const char *cairn_tmpfs_directory(const char *process_directory, uint64_t size)
{
	static char link[sizeof(cairn_config.spool) + 16]; // threads may have small stacks
	const int saved = errno;

	snprintf(link, sizeof(link), "%s/buffers", cairn_config.spool);
	if (!refused)
		refused = !allows(link, size) || (!made && !(made = make(link, process_directory)));
	errno = saved;
	return refused ? NULL : directory;
}

void cairn_tmpfs_give_up(void) { refused = true; }
