// What pointers of MPI calls lead to, by names that are the same in every run and on every rank that does the same.
#ifndef CAIRN_NAMES_OF_SEGMENTS_H
#define CAIRN_NAMES_OF_SEGMENTS_H

#include "index.h"

enum { CAIRN_NO_NAME = -1 };

// cairn_name_block gives a block its number; it keeps it until cairn_name_release. Numbers belong for ever to a kind of
// block (what, where allocated, how large) and an ordinal; the lowest ordinal that no live block has is taken, so a
// block that every iteration allocates anew has one number.
int32_t cairn_name_block(const struct cairn_block *block);
void cairn_name_release(uintptr_t start);

// cairn_name_for_ever numbers what is never released.
int32_t cairn_name_for_ever(const struct cairn_block *block);

// cairn_names_after_fork makes the names usable in a child, where a lock's owner may not exist.
void cairn_names_after_fork(void);

// How the shim writes down what a number stands for; false: it cannot.
extern bool (*cairn_names_describe)(const uint64_t words[5]);

#endif
