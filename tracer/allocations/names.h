// Numbers for the allocations that pointers of MPI calls lead to, equal in every run and on every
// rank that does the same.
#ifndef CAIRN_ALLOCATION_NAMES_H
#define CAIRN_ALLOCATION_NAMES_H

#include "index.h"

enum { CAIRN_NO_NAME = -1 };

// cairn_name_block assigns a number to a block until cairn_name_release. A number permanently
// belongs to a kind of block (what, where allocated, size) and an ordinal. A block gets the
// lowest ordinal that no live block has, so a block that every iteration allocates anew always
// has the same number.
int32_t cairn_name_block(const struct cairn_block *block);
void cairn_name_release(uintptr_t start);

// cairn_name_permanently assigns a number to a block that is never released.
int32_t cairn_name_permanently(const struct cairn_block *block);

// cairn_names_after_fork makes the names usable in a child, where the lock's owner may not exist.
void cairn_names_after_fork(void);

// The shim's function that writes the description of a number to the dictionary; false: it cannot.
extern bool (*cairn_names_describe)(const uint64_t words[5]);

#endif
