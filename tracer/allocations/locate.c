// Resolves pointers to allocations.
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../ring/layout_gen.h"
#include "../shim/process/at_end.h"
#include "device.h"
#include "index.h"
#include "names.h"
#include "real.h"

CAIRN_FIRST_VERSION(pthread_getattr_np);
CAIRN_FIRST_VERSION(pthread_attr_getstack);

// word_for returns the word of a record for an address in an allocation: tag, number, offset
// (recorder/dictionary.go).
static uint64_t word_for(uintptr_t address, int32_t number, uint64_t offset)
{
	if (number < 0 || number >= 1 << (CAIRN_ENTRY_SHIFT - CAIRN_OFFSET_BITS) || offset >> CAIRN_OFFSET_BITS != 0)
		return address;
	return (uint64_t)CAIRN_ENTRY_TAG << CAIRN_ENTRY_SHIFT | (uint64_t)number << CAIRN_OFFSET_BITS | offset;
}

// Stacks of threads that have called MPI, and of the main thread. Offsets are counted down from an
// address that depends only on the program: __libc_stack_end, which is below the environment, or
// the thread's control block above its stack.
enum { MAX_STACKS = 4096 };
static struct stack {
	_Atomic uintptr_t low, end; // end 0: free
} stacks[MAX_STACKS];
static _Atomic uint32_t stack_count;
static uintptr_t main_end, main_low;

static void register_stack(uint32_t thread)
{
	static __thread bool known __attribute__((tls_model("initial-exec")));
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (known || thread >= MAX_STACKS)
		return;
	known = true;
	if (syscall(SYS_gettid) == getpid()) {
		atomic_store(&stacks[thread].low, main_low);
		atomic_store(&stacks[thread].end, main_end);
	} else if (cairn_pthread_getattr_np(pthread_self(), &attributes) == 0) {
		if (cairn_pthread_attr_getstack(&attributes, &low, &size) == 0) {
			uintptr_t end = (uintptr_t)__builtin_thread_pointer();
			for (uint32_t i = 0; i < atomic_load(&stack_count); i++) // remove that of an earlier thread
				if (atomic_load(&stacks[i].end) == end)
					atomic_store(&stacks[i].end, 0);
			atomic_store(&stacks[thread].low, (uintptr_t)low);
			atomic_store(&stacks[thread].end, end);
		}
		pthread_attr_destroy(&attributes);
	}
	uint32_t n = atomic_load(&stack_count);
	while (n < thread + 1 && !atomic_compare_exchange_weak(&stack_count, &n, thread + 1))
		;
}

static bool on_stack(uintptr_t address, uint32_t thread, uint64_t *word)
{
	if (thread >= MAX_STACKS)
		return false;
	uintptr_t end = atomic_load_explicit(&stacks[thread].end, memory_order_relaxed);
	if (end == 0 || address >= end || address < atomic_load_explicit(&stacks[thread].low, memory_order_relaxed))
		return false;
	struct cairn_block b = {.kind = CAIRN_STACK, .device = thread};
	*word = word_for(address, cairn_name_permanently(&b), end - address);
	return true;
}

// Static data: the mapped modules.
enum { MAX_MODULES = 2048 };
static struct {
	uintptr_t base, limit;
} modules[MAX_MODULES];
static _Atomic uint32_t module_count;
static _Atomic int refreshing;
static unsigned long long loads, unloads;

static int add_module(struct dl_phdr_info *info, size_t size, void *data)
{
	uint32_t *n = data;
	uintptr_t base = UINTPTR_MAX, limit = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD)
			continue;
		base = begin < base ? begin : base;
		limit = begin + p->p_memsz > limit ? begin + p->p_memsz : limit;
	}
	if (limit > base && *n < MAX_MODULES) {
		modules[*n].base = base & ~(uintptr_t)4095;
		modules[(*n)++].limit = limit;
	}
	loads = info->dlpi_adds, unloads = info->dlpi_subs;
	return 0;
}

static int has_changed(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size, (void)data;
	return info->dlpi_adds == loads && info->dlpi_subs == unloads ? 1 : 2;
}

static bool in_module(uintptr_t address, uint64_t *word)
{
	for (uint32_t i = 0; i < atomic_load_explicit(&module_count, memory_order_acquire); i++)
		if (address - modules[i].base < modules[i].limit - modules[i].base) {
			struct cairn_block b = {.kind = CAIRN_STATIC, .size = modules[i].limit - modules[i].base, .site = modules[i].base};
			*word = word_for(address, cairn_name_permanently(&b), address - modules[i].base);
			return true;
		}
	return false;
}

static bool refreshed(void)
{
	if (atomic_exchange(&refreshing, 1) != 0)
		return false;
	bool changed = dl_iterate_phdr(has_changed, NULL) == 2;
	if (changed) {
		uint32_t n = 0;
		dl_iterate_phdr(add_module, &n);
		atomic_store_explicit(&module_count, n, memory_order_release);
	}
	atomic_store(&refreshing, 0);
	return changed;
}

static void in_child(void)
{
	cairn_names_after_fork();
	cairn_devices_after_fork();
}

// The shim must call this before the first record with a located pointer; describe writes the
// description of a number.
CAIRN_EXPORT void cairn_allocations_start(bool (*describe)(const uint64_t words[5]));
CAIRN_EXPORT void cairn_allocations_start(bool (*describe)(const uint64_t words[5]))
{
	uintptr_t *end = cairn_dlsym(RTLD_DEFAULT, "__libc_stack_end");
	struct rlimit limit;

	main_end = end != NULL ? *end : getauxval(AT_RANDOM); // musl has no such variable
	if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > (rlim_t)1 << 30)
		limit.rlim_cur = (rlim_t)1 << 30;
	main_low = main_end > limit.rlim_cur ? main_end - limit.rlim_cur : 0;
	cairn_names_describe = describe;
	refreshed();
	cairn_at_fork(in_child);
}

// Returns the word of a record for an address that a thread passes to MPI.
CAIRN_EXPORT uint64_t cairn_allocations_locate(uintptr_t address, uint32_t thread);
CAIRN_EXPORT uint64_t cairn_allocations_locate(uintptr_t address, uint32_t thread)
{
	enum { MAX_UNKNOWN = 4096 };
	static _Atomic int unknown;
	struct cairn_block b;
	uint64_t word;

	if (address < 4096 || address >> 56 != 0)
		return address;
	register_stack(thread);
	if (on_stack(address, thread, &word))
		return word;
	if (cairn_index_find(address, &b)) {
		word = word_for(address, cairn_name_block(&b), address - b.start);
		if (word != address && !b.named)
			cairn_index_name(&b);
		return word;
	}
	if (cairn_device_find(address, &b))
		return word_for(address, cairn_name_block(&b), address - b.start);
	if (in_module(address, &word) || (refreshed() && in_module(address, &word)))
		return word;
	for (uint32_t i = 0; i < atomic_load(&stack_count); i++)
		if (on_stack(address, i, &word))
			return word;
	if (main_end != 0 && address < main_end && address >= main_low) {
		b = (struct cairn_block){.kind = CAIRN_STACK};
		return word_for(address, cairn_name_permanently(&b), main_end - address);
	}
	if (atomic_fetch_add(&unknown, 1) >= MAX_UNKNOWN)
		return address;
	b = (struct cairn_block){.kind = CAIRN_UNKNOWN, .size = 1, .site = address};
	return word_for(address, cairn_name_permanently(&b), 0);
}
