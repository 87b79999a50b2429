// What is recorded: MPI_Pcontrol and the groups of functions that the settings leave out.
#ifndef CAIRN_CONTROL_H
#define CAIRN_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "../gen/functions_gen.h"
#include "../gen/groups_gen.h"

extern const char cairn_group_name[CAIRN_GROUPS][CAIRN_GROUP_NAME];
extern const unsigned char cairn_group[CAIRN_FUNCTIONS];
extern const unsigned char cairn_marker[CAIRN_FUNCTIONS]; // functions whose calls may be markers: their wrappers are never left out

// cairn_control_start takes the settings into account; before the first function is bound.
void cairn_control_start(const char *include, const char *exclude, bool off);

// cairn_excluded writes the groups that are left out, with commas.
void cairn_excluded(char *out, uint64_t size);

// cairn_recorded reports whether calls of a function are recorded now. An entry point whose calls are not leads straight
// to the real function.
bool cairn_recorded(unsigned id);

// cairn_leaves_out reports whether there were calls that were not to be recorded.
bool cairn_leaves_out(void);

// cairn_control does what MPI_Pcontrol's level asks for: 0 off, 1 on, 2 hand over what was recorded. Others only
// stand in the trace.
void cairn_control(int level);

#endif
