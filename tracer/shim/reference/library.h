// What the files of this library share.
#ifndef CAIRN_LIBRARY_H
#define CAIRN_LIBRARY_H

#include "../bind/reference.h"

// cairn_library_shim returns the shim's functions.
const struct cairn_reference_shim *cairn_library_shim(void);

#endif
