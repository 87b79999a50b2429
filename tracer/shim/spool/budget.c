#include "budget.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../ring/layout_gen.h"
#include "../process/config.h"
#include "../process/memory.h"

struct budget {
	char magic[8];
	_Atomic int64_t limit, used;
	_Atomic int64_t refused; // processes that found no room for any file
};
CAIRN_LAYOUT_BUDGET(struct budget);

static struct budget *budget; // NULL: no shared budget

bool cairn_budget_open(const char *spool)
{
	char path[sizeof(cairn_config.spool) + 16];
	const int saved = errno;
	int file;

	snprintf(path, sizeof(path), "%s/budget", spool);
	file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	// the size by lseek, since fstat is a symbol of glibc 2.33; a file that cannot be sought
	// is refused as well
	if (file >= 0 && lseek(file, 0, SEEK_END) >= (off_t)sizeof(*budget)) {
		struct budget *found = cairn_map(sizeof(*found), PROT_READ | PROT_WRITE, file);
		if (found != NULL && memcmp(found->magic, CAIRN_BUDGET_MAGIC, sizeof(found->magic)) == 0)
			budget = found;
		else if (found != NULL)
			cairn_unmap(found, sizeof(*found));
	}
	if (file >= 0)
		close(file);
	errno = saved;
	return budget != NULL;
}

bool cairn_budget_take(uint64_t bytes, uint64_t reserve)
{
	int64_t left;

	if (budget == NULL)
		return true;
	left = atomic_load(&budget->limit) - (atomic_fetch_add(&budget->used, (int64_t)bytes) + (int64_t)bytes);
	if (left >= 0 && (uint64_t)left >= reserve)
		return true;
	cairn_budget_add(-(int64_t)bytes);
	return false;
}

void cairn_budget_add(int64_t bytes)
{
	if (budget != NULL)
		atomic_fetch_add(&budget->used, bytes);
}

void cairn_budget_refused(void)
{
	if (budget != NULL)
		atomic_fetch_add(&budget->refused, 1);
}

uint64_t cairn_budget_used(void)
{
	const int64_t used = budget != NULL ? atomic_load(&budget->used) : 0;

	return used > 0 ? (uint64_t)used : 0;
}

uint64_t cairn_budget_limit(void)
{
	return budget != NULL ? (uint64_t)atomic_load(&budget->limit) : 0;
}
