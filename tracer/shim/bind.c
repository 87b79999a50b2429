// Which function an entry point leads to.
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "clock.h"
#include "config.h"
#include "constants.h"
#include "loader.h"
#include "names.h"
#include "state.h"

void *cairn_slots[CAIRN_FUNCTIONS] __attribute__((visibility("hidden")));
void *cairn_real[CAIRN_FUNCTIONS];
static void *inner[CAIRN_FUNCTIONS];
bool cairn_clock_is_tsc;
bool cairn_symbol_missing;

extern const int32_t cairn_wrapper_distance[] __attribute__((visibility("hidden")));

static void *libmpi; // handle of the mapped MPI library

// A library that an interpreter loads with RTLD_LOCAL is not in the order of symbol resolution: look at all that is
// mapped.
static int find_mapped(struct dl_phdr_info *info, size_t size, void *found)
{
	const char *name = info->dlpi_name, *base = strrchr(name, '/');
	(void)size;
	if (strncmp(base != NULL ? base + 1 : name, "libmpi", 6) != 0)
		return 0;
	void *handle = cairn_dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle == NULL || cairn_dlsym(handle, "PMPI_Init") == NULL)
		return 0;
	*(void **)found = handle;
	return 1;
}

static void find_libmpi(void)
{
	Dl_info at;
	void *init = cairn_dlsym(RTLD_NEXT, "PMPI_Init");

	if (libmpi != NULL)
		return;
	if (init != NULL && cairn_dladdr(init, &at) != 0 && at.dli_fname != NULL) {
		libmpi = cairn_dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		if (libmpi == NULL) // in the executable itself
			libmpi = cairn_dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
	} else {
		dl_iterate_phdr(find_mapped, &libmpi);
	}
}

uintptr_t cairn_library_begin, cairn_library_size;

// find_code is called for each mapped object until one has the address in its executable segment.
static int find_code(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || (uintptr_t)address - begin >= p->p_memsz)
			continue;
		if (info->dlpi_name[0] != '\0') { // the executable has no name
			cairn_library_begin = begin;
			cairn_library_size = p->p_memsz;
		}
		return 1;
	}
	return 0;
}

// abi_is_ours tells by a symbol that only this family of implementations has.
static bool abi_is_ours(void)
{
#ifdef CAIRN_OPENMPI
	return cairn_dlsym(libmpi, "ompi_mpi_comm_world") != NULL;
#else
	return cairn_dlsym(libmpi, "MPIR_Dup_fn") != NULL && cairn_dlsym(libmpi, "ompi_mpi_comm_world") == NULL;
#endif
}

static void *find(const char *name)
{
	void *f = cairn_dlsym(RTLD_NEXT, name);
	if (f == NULL && libmpi != NULL)
		f = cairn_dlsym(libmpi, name);
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
	if (inner[id] == NULL)
		inner[id] = find_inner(id);
	return inner[id];
}

void *cairn_symbol(const char *name)
{
	// The executable comes first: it may hold the copy of the object that everybody uses (copy relocation).
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

// not_there stands for a function that the process's MPI lacks and somebody calls all the same.
static int not_there(void)
{
	return MPI_ERR_OTHER;
}

// cairn_bind is called from the entry point at the first call of a function; threads may do so at once, and find the
// same.
void *cairn_bind(unsigned id) __attribute__((visibility("hidden")));

void *cairn_bind(unsigned id)
{
	static _Atomic int ours; // 0: not known, 1: yes, -1: no
	void *next, *target;

	if (cairn_dlsym == NULL)
		abort(); // a process with MPI and without a dynamic loader: there is no function to go to
	find_libmpi();
	if (ours == 0 && libmpi != NULL) {
		cairn_clock_is_tsc = cairn_tsc_is_invariant();
		ours = abi_is_ours() && cairn_config_read() ? 1 : -1;
		cairn_verifying = ours == 1 && cairn_config.verify;
		dl_iterate_phdr(find_code, cairn_dlsym(libmpi, "PMPI_Init"));
	}
	next = find(cairn_name(id));
	if (next == NULL)
		next = find_inner(id);
	if (next == NULL) {
		fprintf(stderr, "cairn: %s was called, but this MPI library has no such function\n", cairn_name(id));
		return (void *)not_there;
	}
	target = next;
	if (ours == 1 && cairn_wrapper_distance[id] != 0 && atomic_load(&cairn_state) != CAIRN_OFF) {
		__atomic_store_n(&cairn_real[id], next, __ATOMIC_RELEASE);
		target = (char *)cairn_wrapper_distance + cairn_wrapper_distance[id];
	}
	__atomic_store_n(&cairn_slots[id], target, __ATOMIC_RELEASE);
	return target;
}
