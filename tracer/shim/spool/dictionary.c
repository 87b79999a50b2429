#include "dictionary.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../process/config.h"
#include "spool.h"

enum { MAX_WORDS = 2048 };

static int file = -1;

bool cairn_rare_lock(struct cairn_rare *lock)
{
	static __thread char me __attribute__((tls_model("initial-exec")));
	uintptr_t none = 0;

	if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == (uintptr_t)&me)
		return false;
	while (!atomic_compare_exchange_weak_explicit(&lock->owner, &none, (uintptr_t)&me, memory_order_acquire, memory_order_relaxed)) {
		none = 0;
		sched_yield();
	}
	return true;
}

void cairn_rare_unlock(struct cairn_rare *lock)
{
	atomic_store_explicit(&lock->owner, 0, memory_order_release);
}

// open_file creates the file on first use: most programs need none.
static int open_file(void)
{
	static char path[sizeof(cairn_config.spool) + 600]; // threads may have small stacks
	int opened, kept;

	if (snprintf(path, sizeof(path), "%s/dictionary", cairn_spool_directory) >= (int)sizeof(path))
		return -1;
	opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (opened < 0)
		return -1;
	(void)fchmod(opened, 0644); // whatever the umask: another user may read it
	// The application may be expected to use the numbers 0 to 2.
	kept = opened > 2 ? opened : fcntl(opened, F_DUPFD_CLOEXEC, 3);
	if (opened <= 2)
		close(opened);
	return kept;
}

bool cairn_dictionary_add(uint32_t type, const uint64_t *words, uint32_t count)
{
	static struct cairn_rare lock;
	static off_t end; // of the complete entries
	static bool tried;
	static uint64_t entry[1 + MAX_WORDS]; // threads may have small stacks
	size_t size = 8 * (1 + (size_t)count);
	int before = errno;
	ssize_t n;

	if (cairn_spool_directory[0] == 0 || count > MAX_WORDS || !cairn_rare_lock(&lock))
		return false;
	if (!tried)
		file = open_file();
	tried = true;
	if (file < 0 || !cairn_spool_fits((uint64_t)end + size)) {
		cairn_rare_unlock(&lock);
		errno = before;
		return false;
	}
	entry[0] = size | (uint64_t)type << 32;
	memcpy(entry + 1, words, 8 * (size_t)count);
	do
		n = write(file, entry, size);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size) {
		end += n;
	} else {
		// Do not append to half an entry.
		if (n > 0 && ftruncate(file, end) != 0)
			file = -1;
		n = -1;
	}
	cairn_rare_unlock(&lock);
	errno = before;
	return n > 0;
}
