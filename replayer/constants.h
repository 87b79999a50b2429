// Values of named constants in this MPI, by their id in the table of the standard
// (mpi/constants.txt). False: it has no such constant, or one of another kind.
#ifndef CAIRN_REPLAY_CONSTANTS_H
#define CAIRN_REPLAY_CONSTANTS_H

#include "mpih.h"

extern const int cr_constants; // ids are less

// "?" if the table has no such constant.
const char *cr_constant_name(int64_t id);

bool cr_constant_number(int64_t id, int64_t *value);
bool cr_constant_pointer(int64_t id, void **value);

#define CR_CONSTANT(kind, type) bool cr_constant_##kind(int64_t id, type *value);
CR_KINDS(CR_CONSTANT)
#undef CR_CONSTANT

#endif
