// The runtime and the driver of CUDA, and the runtime of HIP. Their headers are not needed:
// errors are ints (0: none), device addresses are words. A runtime that is linked statically
// into the program calls the driver through pointers that cannot be intercepted; its memory is
// of unknown origin.
#include "device.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "names.h"
#include "real.h"

enum { MAX_BLOCKS = 1 << 16 };
static struct cairn_block blocks[MAX_BLOCKS];
static _Atomic uint32_t count; // 0: the lock is not needed
static _Atomic int locked;
static __thread int depth __attribute__((tls_model("initial-exec"))); // a runtime may call its driver by name

static void lock(void)
{
	while (atomic_exchange_explicit(&locked, 1, memory_order_acquire) != 0)
		sched_yield();
}

static void unlock(void)
{
	atomic_store_explicit(&locked, 0, memory_order_release);
}

void cairn_devices_after_fork(void)
{
	unlock();
}

static void add(uintptr_t start, size_t size, uint32_t kind, int device, uintptr_t site)
{
	if (start == 0)
		return;
	lock();
	uint32_t n = atomic_load(&count);
	if (n < MAX_BLOCKS) {
		blocks[n] = (struct cairn_block){start, size, site, kind, device > 0 ? (uint32_t)device : 0, false};
		atomic_store(&count, n + 1);
	}
	unlock();
}

static void drop(uintptr_t start)
{
	bool was = false;
	if (start == 0 || atomic_load(&count) == 0)
		return;
	lock();
	uint32_t n = atomic_load(&count);
	for (uint32_t i = 0; i < n && !was; i++)
		if (blocks[i].start == start) {
			was = true;
			blocks[i] = blocks[n - 1];
			atomic_store(&count, n - 1);
		}
	unlock();
	if (was)
		cairn_name_release(start);
}

bool cairn_device_find(uintptr_t address, struct cairn_block *b)
{
	bool found = false;
	if (atomic_load_explicit(&count, memory_order_relaxed) == 0)
		return false;
	lock();
	uint32_t n = atomic_load(&count);
	for (uint32_t i = 0; i < n && !found; i++)
		if (address - blocks[i].start < blocks[i].size || address == blocks[i].start) {
			*b = blocks[i];
			found = true;
		}
	unlock();
	return found;
}

static int device_by(const char *name)
{
	int (*get)(int *), device = 0;
	*(void **)&get = cairn_dlsym(RTLD_DEFAULT, name);
	return get != NULL && get(&device) == 0 ? device : 0;
}

enum { FAILED_TO_FIND = 100 }; // cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE, hipErrorNoDevice

// An allocating function whose first parameter points to the resulting address.
#define ALLOCATES(name, kind, get_device, bytes, parameters, arguments) \
	int name parameters; \
	CAIRN_EXPORT int name parameters \
	{ \
		__typeof__(&name) real = CAIRN_NEXT(name); \
		if (real == NULL) \
			return FAILED_TO_FIND; \
		depth++; \
		int error = real arguments; \
		depth--; \
		if (error == 0 && depth == 0 && p != NULL) \
			add((uintptr_t)*p, bytes, kind, device_by(get_device), CAIRN_SITE); \
		return error; \
	}

#define FREES(name, parameters, arguments) \
	int name parameters; \
	CAIRN_EXPORT int name parameters \
	{ \
		__typeof__(&name) real = CAIRN_NEXT(name); \
		if (real == NULL) \
			return FAILED_TO_FIND; \
		drop((uintptr_t)p); \
		return real arguments; \
	}

ALLOCATES(cudaMalloc, CAIRN_DEVICE, "cudaGetDevice", size, (void **p, size_t size), (p, size))
ALLOCATES(cudaMallocManaged, CAIRN_MANAGED, "cudaGetDevice", size, (void **p, size_t size, unsigned flags), (p, size, flags))
ALLOCATES(cudaMallocHost, CAIRN_PINNED, "cudaGetDevice", size, (void **p, size_t size), (p, size))
ALLOCATES(cudaHostAlloc, CAIRN_PINNED, "cudaGetDevice", size, (void **p, size_t size, unsigned flags), (p, size, flags))
ALLOCATES(cudaMallocAsync, CAIRN_DEVICE, "cudaGetDevice", size, (void **p, size_t size, void *stream), (p, size, stream))
ALLOCATES(cudaMallocFromPoolAsync, CAIRN_DEVICE, "cudaGetDevice", size, (void **p, size_t size, void *pool, void *stream), (p, size, pool, stream))
ALLOCATES(cudaMallocPitch, CAIRN_DEVICE, "cudaGetDevice", *pitch * height, (void **p, size_t *pitch, size_t width, size_t height), (p, pitch, width, height))
FREES(cudaFree, (void *p), (p))
FREES(cudaFreeHost, (void *p), (p))
FREES(cudaFreeAsync, (void *p, void *stream), (p, stream))

ALLOCATES(cuMemAlloc_v2, CAIRN_DEVICE, "cuCtxGetDevice", size, (uintptr_t *p, size_t size), (p, size))
ALLOCATES(cuMemAllocManaged, CAIRN_MANAGED, "cuCtxGetDevice", size, (uintptr_t *p, size_t size, unsigned flags), (p, size, flags))
ALLOCATES(cuMemAllocHost_v2, CAIRN_PINNED, "cuCtxGetDevice", size, (void **p, size_t size), (p, size))
ALLOCATES(cuMemHostAlloc, CAIRN_PINNED, "cuCtxGetDevice", size, (void **p, size_t size, unsigned flags), (p, size, flags))
ALLOCATES(cuMemAllocAsync, CAIRN_DEVICE, "cuCtxGetDevice", size, (uintptr_t *p, size_t size, void *stream), (p, size, stream))
ALLOCATES(cuMemAllocFromPoolAsync, CAIRN_DEVICE, "cuCtxGetDevice", size, (uintptr_t *p, size_t size, void *pool, void *stream), (p, size, pool, stream))
ALLOCATES(cuMemAllocPitch_v2, CAIRN_DEVICE, "cuCtxGetDevice", *pitch * height, (uintptr_t *p, size_t *pitch, size_t width, size_t height, unsigned element), (p, pitch, width, height, element))
FREES(cuMemFree_v2, (uintptr_t p), (p))
FREES(cuMemFreeHost, (void *p), (p))
FREES(cuMemFreeAsync, (uintptr_t p, void *stream), (p, stream))
FREES(cuMemUnmap, (uintptr_t p, size_t size), (p, size))

// For memory whose addresses are reserved first, each mapping is a block.
int cuMemMap(uintptr_t p, size_t size, size_t offset, unsigned long long handle, unsigned long long flags);
CAIRN_EXPORT int cuMemMap(uintptr_t p, size_t size, size_t offset, unsigned long long handle, unsigned long long flags)
{
	__typeof__(&cuMemMap) real = CAIRN_NEXT(cuMemMap);
	int error = real != NULL ? real(p, size, offset, handle, flags) : FAILED_TO_FIND;
	if (error == 0)
		add(p, size, CAIRN_DEVICE, device_by("cuCtxGetDevice"), CAIRN_SITE);
	return error;
}

ALLOCATES(hipMalloc, CAIRN_DEVICE, "hipGetDevice", size, (void **p, size_t size), (p, size))
ALLOCATES(hipMallocManaged, CAIRN_MANAGED, "hipGetDevice", size, (void **p, size_t size, unsigned flags), (p, size, flags))
ALLOCATES(hipHostMalloc, CAIRN_PINNED, "hipGetDevice", size, (void **p, size_t size, unsigned flags), (p, size, flags))
FREES(hipFree, (void *p), (p))
FREES(hipHostFree, (void *p), (p))
