#include "pointer.h"

#include <errno.h>
#include <string.h>

#include "../process/constants.h"
#include "../process/loader.h"
#include "../process/thread.h"
#include "../spool/dictionary.h"
#include "modules.h"

bool cairn_pointers;

static uint64_t (*find)(uintptr_t address, uint32_t thread);

// Constants of MPI that are addresses in a library: they are recorded by name, not as pointers.
enum { MAX_NAMES = 64 };
static uint64_t names[MAX_NAMES];
static unsigned name_count;

static void add_name(void *data, const char *kind, const char *text, size_t length, int64_t value)
{
	(void)data, (void)text, (void)length;
	if ((strcmp(kind, "buffer") == 0 || strcmp(kind, "pointer") == 0) && (uint64_t)value >= 4096 && name_count < MAX_NAMES)
		names[name_count++] = (uint64_t)value;
}

// describe writes an allocation to the dictionary, after the module that it is in or
// that allocated it.
static bool describe(const uint64_t words[5])
{
	uintptr_t base, size;
	if (words[3] != 0)
		cairn_modules_know(words[3], &base, &size);
	return cairn_dictionary_add(CAIRN_ENTRY_ALLOCATION, words, 5);
}

void cairn_pointers_begin(void)
{
	void (*start)(bool (*)(const uint64_t *));

	*(void **)&start = cairn_dlsym(RTLD_DEFAULT, "cairn_allocations_start");
	*(void **)&find = cairn_dlsym(RTLD_DEFAULT, "cairn_allocations_locate");
	if (start == NULL || find == NULL)
		return; // not preloaded: record plain addresses
	cairn_constants(add_name, NULL);
	start(describe);
	cairn_pointers = true;
}

uint64_t cairn_find_pointer(uint64_t address)
{
	int before = errno;
	for (unsigned i = 0; i < name_count; i++)
		if (names[i] == address)
			return address;
	address = find((uintptr_t)address, cairn_thread_number() - 1);
	errno = before;
	return address;
}

uint64_t cairn_function(uint64_t address)
{
	int before = errno;
	// Earlier the list of modules is not written yet. It is refreshed even if there is a module at
	// this address: that one may be unloaded.
	if (atomic_load_explicit(&cairn_state, memory_order_acquire) == CAIRN_ON)
		cairn_modules_refresh();
	errno = before;
	return address;
}
