// Binding of entry points to functions.
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../evidence/life.h"
#include "../process/abi.h"
#include "../process/clock.h"
#include "../process/config.h"
#include "../process/constants.h"
#include "../process/loader.h"
#include "../process/names.h"
#include "../process/state.h"
#include "bind.h"
#include "control.h"
#include "reference.h"

static void *inner[CAIRN_FUNCTIONS];
bool cairn_symbol_missing;

extern const int32_t cairn_wrapper_distance[] CAIRN_HIDDEN;

static void *libmpi; // handle of the mapped MPI library

// A function of every libmpi that no shim exports (another shim may be preloaded, too).
#define ONLY_LIBMPI "PMPI_File_c2f"

// A library that an interpreter loads with RTLD_LOCAL does not take part in symbol resolution: search everything that is
// mapped.
struct search {
	const char *symbol;
	void *found;
};

static int find_mapped(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const char *name = info->dlpi_name, *base = strrchr(name, '/');
	(void)size;
	if (strncmp(base != NULL ? base + 1 : name, "libmpi", 6) != 0)
		return 0;
	void *handle = cairn_dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle == NULL || cairn_dlsym(handle, search->symbol) == NULL)
		return 0;
	search->found = handle;
	return 1;
}

static void find_libmpi(void)
{
	Dl_info at;
	void *init = cairn_dlsym(RTLD_NEXT, ONLY_LIBMPI);

	if (libmpi != NULL)
		return;
	if (init != NULL && cairn_dladdr(init, &at) != 0 && at.dli_fname != NULL) {
		libmpi = cairn_dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		if (libmpi == NULL) // in the executable itself
			libmpi = cairn_dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	} else {
		struct search search = {ONLY_LIBMPI, NULL};
		dl_iterate_phdr(find_mapped, &search);
		libmpi = search.found;
	}
}

// The libraries' code. state.h has the range around all of them, which may include other libraries.
enum { LIBRARIES = 16 };
static struct {
	uintptr_t begin, size;
} library[LIBRARIES];
static _Atomic int libraries;

bool cairn_in_library(uint64_t caller)
{
	for (int i = atomic_load_explicit(&libraries, memory_order_acquire) - 1; i >= 0; i--)
		if ((uintptr_t)caller - library[i].begin < library[i].size)
			return true;
	return false;
}

static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static void add_library(uintptr_t begin, uintptr_t size)
{
	pthread_mutex_lock(&adding);
	int n = atomic_load(&libraries);
	if (n < LIBRARIES && !cairn_in_library(begin)) {
		uintptr_t low = begin, high = begin + size;
		library[n].begin = begin;
		library[n].size = size;
		atomic_store_explicit(&libraries, n + 1, memory_order_release);
		for (int i = 0; i < n; i++) {
			if (library[i].begin < low)
				low = library[i].begin;
			if (library[i].begin + library[i].size > high)
				high = library[i].begin + library[i].size;
		}
		// In this order a concurrent reader may find too wide a range, but never too narrow a one.
		__atomic_store_n(&cairn_library_size, high - low, __ATOMIC_RELEASE);
		__atomic_store_n(&cairn_library_begin, low, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&adding);
}

// find_code is called for each mapped object until one has the address in an executable segment.
static int find_code(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || (uintptr_t)address - begin >= p->p_memsz)
			continue;
		if (info->dlpi_name[0] != '\0') // the executable has no name
			add_library(begin, p->p_memsz);
		return 1;
	}
	return 0;
}

void cairn_is_library(void *code)
{
	if (code != NULL && !cairn_in_library((uintptr_t)code))
		dl_iterate_phdr(find_code, code);
}

// abi_is_ours checks for a symbol that only our family of implementations has.
static bool abi_is_ours(void)
{
#ifdef CAIRN_OPENMPI
	return cairn_dlsym(libmpi, "ompi_mpi_comm_world") != NULL;
#else
	return cairn_dlsym(libmpi, "MPIR_Dup_fn") != NULL && cairn_dlsym(libmpi, "ompi_mpi_comm_world") == NULL;
#endif
}

void *cairn_find(const char *name)
{
	void *f = cairn_dlsym(RTLD_NEXT, name);
	if (f == NULL && libmpi != NULL)
		f = cairn_dlsym(libmpi, name);
	if (f == NULL) {
		struct search search = {name, NULL};
		dl_iterate_phdr(find_mapped, &search);
		if (search.found != NULL)
			f = cairn_dlsym(search.found, name);
	}
	return f;
}

static void *find_inner(unsigned id)
{
	char name[128];
	snprintf(name, sizeof(name), "P%s", cairn_name(id));
	return libmpi != NULL ? cairn_dlsym(libmpi, name) : NULL;
}

void *cairn_inner(unsigned id)
{
	void *f = __atomic_load_n(&inner[id], __ATOMIC_RELAXED);
	if (f == NULL)
		__atomic_store_n(&inner[id], f = find_inner(id), __ATOMIC_RELAXED);
	return f;
}

void *cairn_symbol(const char *name)
{
	// The executable is first: it may have the copy of the object that everybody uses (copy relocation).
	void *at = cairn_dlsym(RTLD_DEFAULT, name);
	if (at == NULL && libmpi != NULL)
		at = cairn_dlsym(libmpi, name);
	if (at == NULL)
		cairn_symbol_missing = true;
	return at;
}

void *cairn_variable(const char *name)
{
	void **at = cairn_symbol(name);
	return at != NULL ? *at : NULL;
}

// not_there replaces a function that the program calls although its MPI lacks it.
static int not_there(void)
{
	return MPI_ERR_OTHER;
}

void *cairn_not_there(const char *name)
{
	fprintf(stderr, "cairn: %s was called, but this MPI library has no such function\n", name);
	return (void *)not_there;
}

bool cairn_traced(void)
{
	static _Atomic int ours; // 0: not known, 1: yes, -1: no
	static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER; // threads may make their first calls concurrently

	if (cairn_dlsym == NULL)
		abort(); // a process with MPI but without a dynamic loader: no function to call
	if (ours == 0) {
		pthread_mutex_lock(&looking);
		find_libmpi();
		if (ours == 0 && libmpi != NULL) {
			cairn_clock_is_tsc = cairn_tsc_is_invariant();
			bool mine = abi_is_ours() && cairn_config_read();
			if (mine)
				cairn_control_start(cairn_config.include, cairn_config.exclude, cairn_config.start_off);
			cairn_verifying = mine && cairn_config.verify && cairn_reference_load(cairn_inner, cairn_symbol, cairn_variable);
			cairn_is_library(cairn_dlsym(libmpi, ONLY_LIBMPI));
			ours = mine ? 1 : -1;
		}
		pthread_mutex_unlock(&looking);
	}
	return ours == 1 && atomic_load(&cairn_state) != CAIRN_OFF;
}

// next_of returns the function that follows in the order of resolution, or libmpi's own; NULL if there is none.
static void *next_of(unsigned id)
{
	void *next = cairn_find(cairn_name(id));
	return next != NULL ? next : find_inner(id);
}

bool cairn_bind_wrapper(unsigned id)
{
	if (__atomic_load_n(&cairn_real[id], __ATOMIC_ACQUIRE) == NULL)
		__atomic_store_n(&cairn_real[id], next_of(id), __ATOMIC_RELEASE);
	return cairn_wrapper_distance[id] != 0 && __atomic_load_n(&cairn_real[id], __ATOMIC_ACQUIRE) != NULL;
}

// cairn_bind is called from the entry point at the first call of a function. Threads may call it concurrently, and all
// find the same function.
void *cairn_bind(unsigned id) CAIRN_HIDDEN;

void *cairn_bind(unsigned id)
{
	// calls are counted even after tracing has stopped, and with clustering the markers matter
	bool traced = cairn_traced() || cairn_life_counts() || (cairn_clustered && cairn_marker[id]);
	void *next, *target;

	if (traced && cairn_bind_wrapper(id)) {
		next = __atomic_load_n(&cairn_real[id], __ATOMIC_ACQUIRE);
		target = (char *)cairn_wrapper_distance + cairn_wrapper_distance[id];
	} else {
		target = next = next_of(id);
		if (next == NULL)
			return cairn_not_there(cairn_name(id));
	}
	if (target != next && !cairn_recorded(id)) {
		__atomic_store_n(&cairn_slots[id], next, __ATOMIC_RELEASE);
		// MPI_Pcontrol may have turned tracing on in the meantime, on another thread.
		if (!cairn_recorded(id))
			return next;
	}
	__atomic_store_n(&cairn_slots[id], target, __ATOMIC_RELEASE);
	return target;
}
