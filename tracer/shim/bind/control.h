// Selection of calls to record: MPI_Pcontrol, and the groups of functions that the
// settings exclude.
#ifndef CAIRN_CONTROL_H
#define CAIRN_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "../gen/functions_gen.h"
#include "../gen/groups_gen.h"

extern const char cairn_group_name[CAIRN_GROUPS][CAIRN_GROUP_NAME];
extern const unsigned char cairn_group[CAIRN_FUNCTIONS];
extern const unsigned char cairn_marker[CAIRN_FUNCTIONS]; // functions whose calls may be markers: their wrappers are always used

// cairn_control_start applies the settings. It must be called before the first function is bound.
void cairn_control_start(const char *include, const char *exclude, bool off);

// cairn_excluded writes the comma-separated list of the excluded groups.
void cairn_excluded(char *out, uint64_t size);

// cairn_recorded reports whether calls of a function are recorded now. If not, its entry point
// leads directly to the real function.
bool cairn_recorded(unsigned id);

// cairn_leaves_out reports whether some calls were not recorded because of the settings
// or MPI_Pcontrol.
bool cairn_leaves_out(void);

// cairn_control applies a level of MPI_Pcontrol: 0 off, 1 on, 2 hand over the recorded calls. Other
// levels have no effect beyond their record in the trace.
void cairn_control(int level);

#endif
