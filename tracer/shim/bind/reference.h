// The reference log of --verify. It is written beside the record, by the code of a library of its own (reference/lines.h),
// which only processes that verify load. Here is what that library and the shim know of each other.
#ifndef CAIRN_REFERENCE_H
#define CAIRN_REFERENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../gen/reference_gen.h"
#include "../process/hidden.h"

// What the library needs of the shim.
struct cairn_reference_shim {
	void *(*inner)(unsigned id); // bind.h
	void *(*symbol)(const char *name), *(*variable)(const char *name); // abi.h
	uint32_t (*thread_number)(void); // thread.h
	void (*give_up)(void); // ends the log, of which a file cannot be written
};

// What the shim needs of the library.
struct cairn_reference {
	// open starts the log below the process's directory, where another user may remove it if it is shared.
	void (*open)(const char *process_directory, bool shared);

	// stamps takes the time stamps of the call's record for the line of a return; 0: there is no record.
	void (*stamps)(uint64_t enter, uint64_t exit);

	const struct cairn_reference_writers *write;
};

// cairn_reference_begin is the one function that the library exports. It keeps a copy of what shim has.
const struct cairn_reference *cairn_reference_begin(const struct cairn_reference_shim *shim);

// NULL: the library is not loaded. It is as long as cairn_verifying is set, and once it is it stays.
extern CAIRN_HIDDEN const struct cairn_reference *_Atomic cairn_reference;

// cairn_reference_load loads the library, at the first call of MPI; inner, symbol and variable are those of bind.c. Where that
// is not possible it says so on standard error and returns false.
bool cairn_reference_load(void *(*inner)(unsigned), void *(*symbol)(const char *), void *(*variable)(const char *));

#endif
