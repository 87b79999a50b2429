// The names of the functions, by id.
#ifndef CAIRN_NAMES_H
#define CAIRN_NAMES_H

#include "../gen/functions_gen.h"

extern const char cairn_name_text[];
extern const unsigned short cairn_name_offset[CAIRN_FUNCTIONS];

static inline const char *cairn_name(unsigned id)
{
	return cairn_name_text + cairn_name_offset[id];
}

#endif
