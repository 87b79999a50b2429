// malloc and related functions; new and delete use them.
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../shim/process/untagged.h"
#include "index.h"
#include "names.h"
#include "real.h"

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	void (*free)(void *);
} real;

// dlsym may allocate while we look up malloc. That memory comes from here and is never freed.
static _Alignas(16) char early[65536];
static _Atomic size_t early_used;
static _Atomic bool ready;

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static void *early_memory(size_t size)
{
	size_t at = atomic_fetch_add(&early_used, (size + 31) & ~(size_t)15); // with the size in front
	if (size > sizeof(early) || at + size + 16 > sizeof(early)) {
		errno = ENOMEM;
		return NULL;
	}
	*(size_t *)(void *)(early + at) = size;
	return early + at + 16;
}

// look_up finds all functions. The first allocation of a process is made before it has threads.
static bool look_up(void)
{
	static bool looking;
	if (looking)
		return false;
	looking = true;
	*(void **)&real.calloc = cairn_dlsym(RTLD_NEXT, "calloc");
	*(void **)&real.realloc = cairn_dlsym(RTLD_NEXT, "realloc");
	*(void **)&real.memalign = cairn_dlsym(RTLD_NEXT, "memalign");
	*(void **)&real.aligned_alloc = cairn_dlsym(RTLD_NEXT, "aligned_alloc");
	*(void **)&real.posix_memalign = cairn_dlsym(RTLD_NEXT, "posix_memalign");
	*(void **)&real.valloc = cairn_dlsym(RTLD_NEXT, "valloc");
	*(void **)&real.pvalloc = cairn_dlsym(RTLD_NEXT, "pvalloc");
	*(void **)&real.free = cairn_dlsym(RTLD_NEXT, "free");
	*(void **)&real.malloc = cairn_dlsym(RTLD_NEXT, "malloc");
	looking = false;
	atomic_store_explicit(&ready, true, memory_order_release);
	return true;
}

#define IS_READY() (__builtin_expect(atomic_load_explicit(&ready, memory_order_acquire), 1) || look_up())

static inline void *added(void *p, size_t size, uintptr_t site)
{
	if (p != NULL)
		cairn_index_add(&(struct cairn_block){.start = cairn_untagged((uintptr_t)p), .size = size, .site = site, .kind = CAIRN_HEAP});
	return p;
}

// forget must be called before the memory is freed, since another thread may get it at once.
static inline bool forget(void *p, struct cairn_block *b)
{
	if (!cairn_index_remove(cairn_untagged((uintptr_t)p), b))
		return false;
	if (CAIRN_UNLIKELY(b->named))
		cairn_name_release(b->start);
	return true;
}

CAIRN_EXPORT void *malloc(size_t size)
{
	if (CAIRN_UNLIKELY(!IS_READY()))
		return early_memory(size);
	return added(real.malloc(size), size, CAIRN_SITE);
}

CAIRN_EXPORT void *calloc(size_t n, size_t size)
{
	size_t bytes;
	if (CAIRN_UNLIKELY(!IS_READY()))
		return __builtin_mul_overflow(n, size, &bytes) ? NULL : early_memory(bytes); // it is zero
	return added(real.calloc(n, size), n * size, CAIRN_SITE); // overflow: NULL
}

static void *reallocate(void *p, size_t size, uintptr_t site)
{
	struct cairn_block old;
	if (CAIRN_UNLIKELY(is_early(p))) {
		size_t before = ((size_t *)p)[-2];
		void *q = IS_READY() ? added(real.malloc(size), size, site) : early_memory(size);
		if (q != NULL)
			memcpy(q, p, before < size ? before : size);
		return q;
	}
	if (CAIRN_UNLIKELY(!IS_READY()))
		return p == NULL ? early_memory(size) : NULL;
	bool was = p != NULL && forget(p, &old);
	void *q = real.realloc(p, size);
	if (q == NULL && was && size != 0) {
		old.named = false;
		cairn_index_add(&old); // realloc failed
	}
	return added(q, size, site);
}

CAIRN_EXPORT void *realloc(void *p, size_t size)
{
	return reallocate(p, size, CAIRN_SITE);
}

CAIRN_EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return reallocate(p, bytes, CAIRN_SITE);
}

CAIRN_EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	if (CAIRN_UNLIKELY(!IS_READY()))
		return ENOMEM;
	int failed = real.posix_memalign(p, alignment, size);
	if (failed == 0)
		added(*p, size, CAIRN_SITE);
	return failed;
}

CAIRN_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return CAIRN_UNLIKELY(!IS_READY()) ? NULL : added(real.aligned_alloc(alignment, size), size, CAIRN_SITE);
}

CAIRN_EXPORT void *memalign(size_t alignment, size_t size)
{
	return CAIRN_UNLIKELY(!IS_READY()) ? NULL : added(real.memalign(alignment, size), size, CAIRN_SITE);
}

CAIRN_EXPORT void *valloc(size_t size)
{
	return CAIRN_UNLIKELY(!IS_READY()) ? NULL : added(real.valloc(size), size, CAIRN_SITE);
}

CAIRN_EXPORT void *pvalloc(size_t size)
{
	return CAIRN_UNLIKELY(!IS_READY()) ? NULL : added(real.pvalloc(size), size, CAIRN_SITE);
}

CAIRN_EXPORT void free(void *p)
{
	struct cairn_block b;
	if (p == NULL || CAIRN_UNLIKELY(is_early(p)) || CAIRN_UNLIKELY(!IS_READY()))
		return;
	forget(p, &b);
	real.free(p);
}
