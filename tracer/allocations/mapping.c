// mmap and munmap. They are exported only as old versions of the symbols. Programs are bound to
// these, while dlsym finds the C library's: Open MPI and UCX use it to find the functions that they
// patch to intercept munmap.
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "index.h"
#include "names.h"
#include "real.h"

void *cairn_mmap(void *, size_t, int, int, int, off_t);
int cairn_munmap(void *, size_t);
void *cairn_mremap(void *, size_t, size_t, int, ...);
__asm__(".symver cairn_mmap, mmap@GLIBC_2.2.5");
__asm__(".symver cairn_mmap64, mmap64@GLIBC_2.2.5");
__asm__(".symver cairn_munmap, munmap@GLIBC_2.2.5");
__asm__(".symver cairn_mremap, mremap@GLIBC_2.2.5");

static void enter(uintptr_t start, size_t size, uintptr_t site)
{
	if (size > 0)
		cairn_index_add(&(struct cairn_block){.start = start, .size = size, .site = site, .kind = CAIRN_MAPPED});
}

// leave removes a range. The rest of a mapping that is only partly in it stays, as
// separate mappings.
static void leave(uintptr_t start, size_t size)
{
	uintptr_t page = (uintptr_t)getpagesize(), end = (start + size + page - 1) & ~(page - 1), at = start;
	struct cairn_block b;

	while (at < end && cairn_index_find(at, &b) && b.kind == CAIRN_MAPPED) {
		uintptr_t block_end = (b.start + b.size + page - 1) & ~(page - 1);
		if (!cairn_index_remove(b.start, &b))
			return;
		if (b.named)
			cairn_name_release(b.start);
		if (b.start < start)
			enter(b.start, start - b.start, b.site);
		if (block_end > end)
			enter(end, block_end - end, b.site);
		at = block_end;
	}
}

static void *mapped(void *p, size_t size, int flags, uintptr_t site)
{
	if (p == MAP_FAILED)
		return p;
	if (flags & MAP_FIXED)
		leave((uintptr_t)p, size);
	enter((uintptr_t)p, size, site);
	return p;
}

CAIRN_EXPORT void *cairn_mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
	return mapped(CAIRN_NEXT(mmap)(at, size, protection, flags, file, offset), size, flags, CAIRN_SITE);
}

CAIRN_EXPORT void *cairn_mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
	return mapped(CAIRN_NEXT(mmap)(at, size, protection, flags, file, offset), size, flags, CAIRN_SITE);
}

CAIRN_EXPORT int cairn_munmap(void *p, size_t size)
{
	leave((uintptr_t)p, size);
	return CAIRN_NEXT(munmap)(p, size);
}

CAIRN_EXPORT void *cairn_mremap(void *p, size_t size, size_t new_size, int flags, ...)
{
	void *to = NULL;
	if (flags & MREMAP_FIXED) {
		va_list list;
		va_start(list, flags);
		to = va_arg(list, void *);
		va_end(list);
	}
	leave((uintptr_t)p, size);
	void *q = CAIRN_NEXT(mremap)(p, size, new_size, flags, to);
	if (q == MAP_FAILED)
		enter((uintptr_t)p, size, CAIRN_SITE);
	else
		enter((uintptr_t)q, new_size, CAIRN_SITE);
	return q;
}
