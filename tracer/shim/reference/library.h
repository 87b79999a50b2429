// The library of the reference log as the shim knows it, and the shim as that library does. Only processes that verify load
// it (reference.c of the shim).
#ifndef CAIRN_REFERENCE_LIBRARY_H
#define CAIRN_REFERENCE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "gen/reference_gen.h"

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

#endif
