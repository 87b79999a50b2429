// Calls that come to the MPI library past the shim: through an address from dlsym(handle, …), from
// a library that was loaded with RTLD_DEEPBIND, or in any other way that no symbol of ours is part
// of.
//
// Each function of the MPI library is changed in memory so that it counts its calls, whoever makes
// them. Those that the shim does not know of are written to <process>/reference/past: one 64-bit
// number per function, by id; the first one is the number of functions that cannot be changed.
#ifndef CAIRN_ENTRIES_H
#define CAIRN_ENTRIES_H

// cairn_entries_begin changes the functions, before the program calls one.
void cairn_entries_begin(void);

// cairn_entries_open begins the file in the directory of the log.
void cairn_entries_open(const char *directory);

#endif
