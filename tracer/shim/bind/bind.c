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
#include "../process/thread.h"
#include "../process/uninterrupted.h"
#include "bind.h"
#include "control.h"
#include "definition.h"
#include "reference.h"

static void *inner[CAIRN_FUNCTIONS];
bool cairn_symbol_missing;

extern const int32_t cairn_wrapper_distance[] CAIRN_HIDDEN;

static void *libmpi; // handle of the mapped MPI library
static void *in_libmpi; // a function of it

static void find_libmpi(void)
{
	struct cairn_definition d;

	if (libmpi != NULL)
		return;
	d = cairn_definition(&libmpi, CAIRN_ONLY_LIBMPI, 0);
	const char *file = d.address != NULL ? cairn_file_of(d.address) : NULL;
	if (file == NULL)
		return;
	in_libmpi = d.address;
	libmpi = cairn_dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	if (libmpi == NULL) // in the executable itself
		libmpi = cairn_dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
}

// The libraries' code, and ours: when a function of MPI ends with the call of another one it may
// jump there, and seems to be called by its own caller. state.h has the range around the libraries,
// which may include other ones.
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
		for (int i = 1; i < n; i++) { // 0 is ours
			if (library[i].begin < low)
				low = library[i].begin;
			if (library[i].begin + library[i].size > high)
				high = library[i].begin + library[i].size;
		}
		// In this order a concurrent reader may find too wide a range, but never too narrow a one.
		if (n > 0) {
			__atomic_store_n(&cairn_library_size, high - low, __ATOMIC_RELEASE);
			__atomic_store_n(&cairn_library_begin, low, __ATOMIC_RELEASE);
		}
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
		cairn_each_module(find_code, code);
}

#ifdef CAIRN_OPENMPI
static int find_component(struct dl_phdr_info *info, size_t size, void *code)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	return slash != NULL && strncmp(slash, "/mca_", 5) == 0 && find_code(info, size, code);
}
#endif

bool cairn_in_component(uint64_t caller)
{
#ifdef CAIRN_OPENMPI
	static _Atomic uint64_t others[64]; // call sites in callbacks of the program
	_Atomic uint64_t *other = &others[caller * 0x9e3779b97f4a7c15u >> 58];

	if (atomic_load_explicit(other, memory_order_relaxed) == caller)
		return false;
	if (cairn_each_module(find_component, (void *)caller) != 0)
		return true;
	atomic_store_explicit(other, caller, memory_order_relaxed);
#else
	(void)caller;
#endif
	return false;
}

bool cairn_profiling_is_hidden;

// find_note looks for the note in the first object, the executable.
static int find_note(struct dl_phdr_info *info, size_t size, void *found)
{
	static const struct {
		uint32_t name_size, size, type;
		char name[8];
	} note = {6, 0, 1, "Cairn"};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_NOTE && memmem((const void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz, &note, sizeof(note)) != NULL)
			*(bool *)found = true;
	}
	return 1;
}

// of_libmpi returns what the MPI library defines under a name, or a library that it needs.
static void *of_libmpi(const char *name)
{
	void *at = cairn_beside(in_libmpi, name);

	return at != NULL ? at : cairn_dlsym(libmpi, name);
}

// abi_is_ours checks for a symbol that only our family of implementations has.
static bool abi_is_ours(void)
{
#ifdef CAIRN_OPENMPI
	return of_libmpi("ompi_mpi_comm_world") != NULL;
#else
	return of_libmpi("MPIR_Dup_fn") != NULL && cairn_beside(in_libmpi, "ompi_mpi_comm_world") == NULL;
#endif
}

static void *find_inner(unsigned id)
{
	char name[128];

	snprintf(name, sizeof(name), "P%s", cairn_name(id));
	return libmpi != NULL ? of_libmpi(name) : NULL;
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
	// The executable is first: it may have the copy of the object that everybody uses
	// (copy relocation).
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

// not_initialized replaces MPI_Initialized and MPI_Finalized in a process without MPI, whose
// program refers to them weakly and would not find them without us.
static int not_initialized(int *flag)
{
	*flag = 0;
	return MPI_SUCCESS;
}

void *cairn_not_there(const char *name)
{
	if (libmpi == NULL && (strcmp(name, "MPI_Initialized") == 0 || strcmp(name, "MPI_Finalized") == 0))
		return (void *)not_initialized;
	fprintf(stderr, "cairn: %s was called, but this MPI library has no such function\n", name);
	return (void *)not_there;
}

bool cairn_traced(void)
{
	static _Atomic int ours; // 0: not known, 1: yes, -1: no
	static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER; // threads may make their first calls concurrently

	if (cairn_dlsym == NULL)
		return false; // a process without a dynamic loader: its functions are no library's
	if (ours == 0) {
		const struct cairn_uninterrupted before = cairn_uninterrupted_begin();
		pthread_mutex_lock(&looking);
		find_libmpi();
		if (ours == 0 && libmpi != NULL) {
			cairn_clock_begin();
			bool mine = abi_is_ours() && cairn_config_read();
			if (mine) {
				cairn_each_module(find_note, &cairn_profiling_is_hidden);
				cairn_control_start(cairn_config.include, cairn_config.exclude, cairn_config.start_off);
				cairn_life_called();
			}
			cairn_is_library((void *)cairn_traced);
			cairn_is_library(in_libmpi);
			cairn_verifying = mine && cairn_config.verify && cairn_reference_load(cairn_inner, cairn_symbol, cairn_variable, cairn_knows);
			ours = mine ? 1 : -1;
		}
		pthread_mutex_unlock(&looking);
		cairn_uninterrupted_end(before);
	}
	return ours == 1 && atomic_load(&cairn_state) != CAIRN_OFF;
}

bool cairn_pass_on(void **slot, const char *symbol)
{
	void *other = cairn_next_shim(symbol);

	if (other != NULL)
		__atomic_store_n(slot, other, __ATOMIC_RELEASE);
	return other != NULL;
}

_Atomic bool cairn_tool_is_behind;

void cairn_note_tool(void)
{
	if (atomic_exchange(&cairn_tool_is_behind, true))
		return;
	for (unsigned id = 0; id < CAIRN_FUNCTIONS; id++)
		__atomic_store_n(&cairn_profiling_slots[id], NULL, __ATOMIC_RELEASE);
}

// Calls are counted even after tracing has stopped, and with clustering the markers matter.
bool cairn_must_record(unsigned id)
{
	return cairn_traced() || cairn_life_counts() || (cairn_clustered && cairn_marker[id]);
}

void *cairn_wrapper_of(unsigned id)
{
	return cairn_wrapper_distance[id] != 0 ? (char *)cairn_wrapper_distance + cairn_wrapper_distance[id] : NULL;
}

void *cairn_lead(void **slot, unsigned id, void *real, bool general)
{
	void *wrapper = cairn_wrapper_of(id);

	if (!cairn_recorded(id)) {
		if (general)
			__atomic_store_n(slot, real, __ATOMIC_RELEASE);
		// MPI_Pcontrol may have turned tracing on in the meantime, on another thread.
		if (!cairn_recorded(id))
			return real;
	}
	if (general)
		__atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
	return wrapper;
}

bool cairn_knows(unsigned id, uint64_t caller)
{
	return cairn_profiling_is_hidden || cairn_self.depth != 0 || cairn_self.busy != 0 ||
		atomic_load(&cairn_state) == CAIRN_OFF || !cairn_recorded(id) ||
		cairn_in_library(caller) || cairn_in_component(caller);
}

// cairn_bind is called from the entry point: at the first call of a function, and at every call
// of one that is not the same for all callers. Threads may call it concurrently, and all find
// the same function.
void *cairn_bind(unsigned id, uintptr_t caller) CAIRN_HIDDEN;

void *cairn_bind(unsigned id, uintptr_t caller)
{
	struct cairn_definition d;
	bool known = cairn_recall(&cairn_slots[id], caller, &d);

	if (known && !d.mpi)
		return d.address;
	bool traced = cairn_must_record(id);
	if (!traced && cairn_pass_on(&cairn_slots[id], cairn_name(id)))
		return cairn_slots[id];
	if (!known)
		d = cairn_definition(&cairn_slots[id], cairn_name(id), caller);
	if (d.address == NULL)
		return cairn_not_there(cairn_name(id));
	if (traced && d.mpi && cairn_wrapper_of(id) != NULL) {
		__atomic_store_n(&cairn_real[id], d.address, __ATOMIC_RELEASE);
		if (!d.library)
			cairn_note_tool();
		return cairn_lead(&cairn_slots[id], id, d.address, d.general);
	}
	if (d.general)
		__atomic_store_n(&cairn_slots[id], d.address, __ATOMIC_RELEASE);
	return d.address;
}
