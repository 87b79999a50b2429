// Fake runtime and driver of CUDA: device memory is host memory that no allocator knows.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int device;

static int give(void **p, size_t size)
{
	(void)size;
	// not in this library's data, where it would be static
	*p = (void *)syscall(SYS_mmap, 0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return *p == MAP_FAILED ? 2 : 0;
}

int cudaSetDevice(int d) { device = d; return 0; }
int cudaGetDevice(int *d) { *d = device; return 0; }
int cuCtxGetDevice(int *d) { *d = device; return 0; }
int cuMemAlloc_v2(unsigned long *p, size_t size) { return give((void **)p, size); }
int cuMemFree_v2(unsigned long p) { (void)p; return 0; }
int cudaMalloc(void **p, size_t size) { return cuMemAlloc_v2((unsigned long *)p, size); }
int cudaMallocManaged(void **p, size_t size, unsigned flags) { (void)flags; return give(p, size); }
int cudaHostAlloc(void **p, size_t size, unsigned flags) { (void)flags; return give(p, size); }
int cudaFree(void *p) { (void)p; return 0; }
int cudaFreeHost(void *p) { (void)p; return 0; }
