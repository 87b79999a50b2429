#include "dictionary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../process/config.h"
#include "../process/opened.h"
#include "../process/uninterrupted.h"
#include "spool.h"

enum { MAX_WORDS = 2048 };

static struct cairn_opened file = {.file = -1};

// open_file creates the file on first use, since most programs need none, or opens it again if the
// program has closed it. It reports whether the file is open.
static bool open_file(void)
{
	static char path[sizeof(cairn_config.spool) + 600]; // threads may have small stacks

	if (cairn_is_open(&file))
		return true;
	if (snprintf(path, sizeof(path), "%s/dictionary", cairn_spool_directory) >= (int)sizeof(path))
		return false;
	const int opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (opened >= 0)
		(void)fchmod(opened, 0644); // whatever the umask: another user may read it
	cairn_keep_open(&file, opened);
	return file.file >= 0;
}

bool cairn_dictionary_add(uint32_t type, const uint64_t *words, uint32_t count)
{
	static struct cairn_rare lock = {.blocks = true};
	static off_t end; // of the complete entries
	static bool damaged; // by half an entry at the end
	static uint64_t entry[1 + MAX_WORDS]; // threads may have small stacks
	size_t size = 8 * (1 + (size_t)count);
	int before = errno;
	ssize_t n;

	if (cairn_spool_directory[0] == 0 || count > MAX_WORDS || !cairn_rare_lock(&lock, NULL))
		return false;
	if (damaged || !open_file() || !cairn_spool_fits((uint64_t)end + size)) {
		cairn_rare_unlock(&lock);
		errno = before;
		return false;
	}
	entry[0] = size | (uint64_t)type << 32;
	memcpy(entry + 1, words, 8 * (size_t)count);
	do
		n = write(file.file, entry, size);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size) {
		end += n;
	} else {
		// Do not append to half an entry.
		damaged = n > 0 && ftruncate(file.file, end) != 0;
		n = -1;
	}
	cairn_rare_unlock(&lock);
	errno = before;
	return n > 0;
}
