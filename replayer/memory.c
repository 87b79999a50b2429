#include "memory.h"

#include "constants.h"
#include "die.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t limit, held;               // bytes
static char *regions[CR_REGIONS];         // limit bytes of address space each
static int64_t needed[CR_REGIONS];        // maximum over all calls

// Memory that is released later.
struct block {
	struct block *next;
	int64_t window; // id, -1: of MPI_Alloc_mem
	void *memory;   // NULL: MPI's own
	int64_t bytes;
};
static struct block *blocks;

static void *reserve(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void cr_limit_memory(int64_t bytes)
{
	limit = bytes;
	for (int i = 0; i < CR_REGIONS; i++)
		if ((regions[i] = reserve((size_t)bytes)) == NULL)
			cr_refuse("%lld bytes of address space cannot be reserved: a smaller --memory may do", (long long)bytes);
}

static void too_much(struct call *c, int64_t bytes)
{
	cr_refuse("call %llu takes %lld bytes of memory, with what others take more than the limit of %lld bytes (--memory)",
		(unsigned long long)c->index, (long long)bytes, (long long)limit);
}

static _Noreturn void too_large(struct call *c)
{
	cr_refuse("call %llu has a buffer that is larger than any memory", (unsigned long long)c->index);
}

static int64_t plus(struct call *c, int64_t a, int64_t b)
{
	int64_t sum;
	if (__builtin_add_overflow(a, b, &sum))
		too_large(c);
	return sum;
}

int64_t cr_times(struct call *c, int64_t a, int64_t b)
{
	int64_t product;
	if (__builtin_mul_overflow(a, b, &product))
		too_large(c);
	return product;
}

int64_t cr_extent(struct call *c, MPI_Datatype type)
{
	MPI_Aint lb, extent;
	if (type == MPI_DATATYPE_NULL)
		return 0;
	if (PMPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS)
		cr_damaged(c, "a datatype without an extent");
	return extent;
}

struct span cr_span(struct call *c, int64_t count, MPI_Datatype type)
{
	MPI_Aint lb, bytes;

	if (count <= 0 || type == MPI_DATATYPE_NULL)
		return (struct span){0, 0};
	if (PMPI_Type_get_true_extent(type, &lb, &bytes) != MPI_SUCCESS)
		cr_damaged(c, "a datatype without an extent");
	if (bytes <= 0)
		return (struct span){0, 0};
	const struct span first = {lb, plus(c, lb, bytes)};
	return cr_join(first, cr_move(c, first, cr_times(c, count - 1, cr_extent(c, type))));
}

struct span cr_join(struct span a, struct span b)
{
	if (a.lo == a.hi)
		return b;
	if (b.lo == b.hi)
		return a;
	return (struct span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

struct span cr_move(struct call *c, struct span s, int64_t bytes)
{
	if (s.lo == s.hi)
		return s;
	return (struct span){plus(c, s.lo, bytes), plus(c, s.hi, bytes)};
}

void *cr_place(struct call *c, struct value recorded, int region, struct span s)
{
	void *in_place;
	int64_t bytes;

	if (recorded.form == CR_CONSTANT_FORM && cr_constant_pointer(recorded.n, &in_place) && in_place == (void *)MPI_IN_PLACE)
		return in_place;
	if (__builtin_sub_overflow(s.hi, s.lo, &bytes))
		too_large(c);
	pthread_mutex_lock(&mutex);
	if (bytes > needed[region])
		needed[region] = bytes;
	if (bytes > limit - LINE || needed[CR_SENT] + needed[CR_RECEIVED] > limit - held)
		too_much(c, bytes);
	pthread_mutex_unlock(&mutex);
	// The part before the address is less than a line, or everything is moved by whole lines.
	const int64_t before = s.lo < 0 ? -(s.lo / LINE - 1) * LINE : -(s.lo / LINE) * LINE;
	return (void *)((uintptr_t)regions[region] + (uintptr_t)before);
}

int64_t cr_size(MPI_Comm comm)
{
	int inter = 0, size = 0;
	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		PMPI_Comm_remote_size(comm, &size);
	else
		PMPI_Comm_size(comm, &size);
	return size;
}

int64_t cr_neighbors(MPI_Comm comm)
{
	int topology = MPI_UNDEFINED, n = 0, out = 0, weighted, rank = 0;

	PMPI_Topo_test(comm, &topology);
	switch (topology) {
	case MPI_CART:
		PMPI_Cartdim_get(comm, &n);
		return 2 * (int64_t)n;
	case MPI_GRAPH:
		PMPI_Comm_rank(comm, &rank);
		PMPI_Graph_neighbors_count(comm, rank, &n);
		return n;
	case MPI_DIST_GRAPH:
		PMPI_Dist_graph_neighbors_count(comm, &n, &out, &weighted);
		return n > out ? n : out;
	}
	return 0;
}

void cr_count(struct call *c, int64_t bytes)
{
	pthread_mutex_lock(&mutex);
	if (bytes < 0 || bytes > limit - held - needed[CR_SENT] - needed[CR_RECEIVED])
		too_much(c, bytes);
	held += bytes;
	pthread_mutex_unlock(&mutex);
}

void *cr_memory(struct call *c, int64_t bytes)
{
	cr_count(c, bytes);
	void *memory = reserve(bytes > 0 ? (size_t)bytes : 1);
	if (memory == NULL)
		cr_die("out of memory");
	return memory;
}

void cr_give_back(struct call *c, void *memory, int64_t bytes)
{
	(void)c;
	pthread_mutex_lock(&mutex);
	held -= bytes;
	pthread_mutex_unlock(&mutex);
	if (memory != NULL)
		munmap(memory, bytes > 0 ? (size_t)bytes : 1);
}

static void note(struct block b)
{
	struct block *block = malloc(sizeof(*block));
	if (block == NULL)
		cr_die("out of memory");
	pthread_mutex_lock(&mutex);
	*block = b;
	block->next = blocks;
	blocks = block;
	pthread_mutex_unlock(&mutex);
}

// Removes the block of a window, or the latest of MPI_Alloc_mem, from the list; it has no bytes if
// there is none.
static struct block take(int64_t window)
{
	struct block b = {0};
	pthread_mutex_lock(&mutex);
	for (struct block **at = &blocks; *at != NULL; at = &(*at)->next) {
		if ((*at)->window != window)
			continue;
		struct block *found = *at;
		b = *found;
		*at = found->next;
		free(found);
		break;
	}
	pthread_mutex_unlock(&mutex);
	return b;
}

void cr_allocated(struct call *c, void *memory, int64_t bytes)
{
	(void)c;
	note((struct block){.window = -1, .memory = memory, .bytes = bytes});
}

void *cr_next_allocated(struct call *c)
{
	const struct block b = take(-1);
	if (b.memory == NULL)
		cr_damaged(c, "there is no memory of MPI_Alloc_mem to be freed");
	cr_give_back(c, NULL, b.bytes);
	return b.memory;
}

void cr_window_made(struct call *c, int64_t id, void *memory, int64_t bytes)
{
	(void)c;
	note((struct block){.window = id, .memory = memory, .bytes = bytes});
}

void cr_window_freed(struct call *c, int64_t id)
{
	const struct block b = take(id);
	cr_give_back(c, b.memory, b.bytes);
}
