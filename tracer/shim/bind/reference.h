// The reference log of --verify. It is written in addition to the records by a separate library
// (reference/lines.h), which is loaded only in processes that verify. This is the interface between
// that library and the shim.
#ifndef CAIRN_REFERENCE_H
#define CAIRN_REFERENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../gen/reference_gen.h"
#include "../process/hidden.h"

// Functions of the shim for the library.
struct cairn_reference_shim {
	void *(*inner)(unsigned id); // bind.h
	void *(*symbol)(const char *name), *(*variable)(const char *name); // abi.h
	uint32_t (*thread_number)(void); // thread.h
	void (*give_up)(void); // ends the log, for example if its file cannot be written
	bool (*knows)(unsigned id, uint64_t caller); // bind.h
};

// Functions of the library for the shim.
struct cairn_reference {
	// open starts the log in the process's directory. If that is shared, other users
	// may remove the log.
	void (*open)(const char *process_directory, bool shared);

	// stamps passes the time stamps of the call's record, for the line of its return; 0:
	// there is no record.
	void (*stamps)(uint64_t enter, uint64_t exit);

	const struct cairn_reference_writers *write;
};

// cairn_reference_begin is the only function that the library exports. It copies *shim.
const struct cairn_reference *cairn_reference_begin(const struct cairn_reference_shim *shim);

// NULL: the library is not loaded. It is loaded while cairn_verifying is set, and never unloaded.
extern CAIRN_HIDDEN const struct cairn_reference *_Atomic cairn_reference;

// cairn_reference_load loads the library at the first call of MPI; the functions are of bind.c. If
// it fails it prints why on standard error and returns false.
bool cairn_reference_load(void *(*inner)(unsigned), void *(*symbol)(const char *), void *(*variable)(const char *), bool (*knows)(unsigned, uint64_t));

#endif
