// Which definition of a symbol a call would have reached if the shim did not export it, too.
//
// A program, or a library that it loads, may define functions of its own under a name of MPI: a
// library of stubs for serial runs, or an interface for another language (Rmpi's mpi_comm_rank
// takes R's objects). The dynamic linker binds their calls to the shim, whose exports come first.
#ifndef CAIRN_DEFINITION_H
#define CAIRN_DEFINITION_H

#include <stdbool.h>
#include <stdint.h>

// A function of every libmpi that no shim exports (another shim may be preloaded, too).
#define CAIRN_ONLY_LIBMPI "PMPI_File_c2f"

struct cairn_definition {
	void *address; // NULL: nobody defines it
	bool mpi;      // a function of MPI: the MPI library's, or a tool's in front of it
	bool library;  // the MPI library's
	bool general;  // all callers reach it, also those in modules that are loaded later
};

// cairn_definition finds the definition of a symbol for a call with this return address. key is
// unique to the symbol, for cairn_recall.
struct cairn_definition cairn_definition(const void *key, const char *symbol, uintptr_t caller);

// cairn_recall returns what cairn_definition found for the same call before. It returns false if
// that is not known any more, or may have changed.
bool cairn_recall(const void *key, uintptr_t caller, struct cairn_definition *definition);

// cairn_file_of returns the path of the module that has the address, NULL if it is not known. (dladdr
// would look for a symbol, too, among thousands.)
const char *cairn_file_of(const void *address);

// cairn_beside returns the definition of a symbol in the module that has the address, which must be
// the same in all calls; NULL: it has none.
void *cairn_beside(const void *address, const char *symbol);

// cairn_next returns the next definition of a symbol in the global scope that is not one of Cairn's
// shims, NULL if there is none. It is exported: shims find each other by this name.
void *cairn_next(const char *symbol) __attribute__((visibility("default")));

// cairn_next_shim returns the next shim's definition of a symbol, NULL if there is no other shim.
void *cairn_next_shim(const char *symbol);

#endif
