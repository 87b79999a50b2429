// Calls from Fortran (docs/decisions/0031-fortran.md).
//
// A Fortran procedure of MPI ends in the C function of the same name, called by the MPI library's
// Fortran layer. The exported Fortran symbol (fortran_entry.inc) announces the call, and the C
// function's wrapper records it, with the arguments that a C program would have passed. Other calls
// by the Fortran layer are not the program's.
#ifndef CAIRN_FORTRAN_H
#define CAIRN_FORTRAN_H

#include "../bind/bind.h"
#include "../process/abi.h"
#include "../process/state.h"
#include "../process/thread.h"

// The bit of a caller's address (record.h) that marks a call from Fortran.
#define CAIRN_FORTRAN ((uint64_t)1 << 63)

// cairn_may_not_be_programs reports whether cairn_is_programs must be asked about a call: it may be
// one of the MPI library's, or announced.
static inline bool cairn_may_not_be_programs(uint64_t caller)
{
	return cairn_called_by_library(caller) || (cairn_self.announced | cairn_self.depth) != 0;
}

// cairn_is_programs reports whether the program made a call of function, and not the MPI library
// for its own purposes. If the call was announced it sets the caller and the function to call.
bool cairn_is_programs_at(unsigned function, uint64_t *caller, void **real);
#define cairn_is_programs(function, caller, real) cairn_is_programs_at(function, caller, (void **)(real))

// cairn_is_announced reports whether a call of function is the one that was announced, by the
// Fortran layer or a tool in front of us that is between.
static inline bool cairn_is_announced(unsigned function)
{
	return cairn_self.announced == function;
}

// cairn_take_announcement must be called when a wrapper records the announced call. It returns the
// function to call instead of real.
void *cairn_take_announcement(unsigned function, uint64_t caller, void *real);

// Open MPI's Fortran layer passes a status of its own to C even if the program ignores it.
// Whether the program does is seen from its own argument (MPI_STATUS_IGNORE is the address of a
// variable in Fortran).
#ifdef CAIRN_OPENMPI
extern CAIRN_HIDDEN const void *cairn_fortran_status_ignore, *cairn_fortran_statuses_ignore;
#define cairn_fortran_ignores_status() \
	(cairn_self.announcement.status == cairn_fortran_status_ignore || cairn_self.announcement.status == cairn_fortran_statuses_ignore)
#else
#define cairn_fortran_ignores_status() false
#endif

// The function behind a Fortran symbol.
void *cairn_fortran_real(unsigned slot);

// Generated: the symbols' names, and the procedure to call if the Fortran layer does not
// call the C function.
extern const unsigned cairn_fortran_symbols;
extern const char cairn_fortran_names[];
void *cairn_fortran_adapter(unsigned function);

#include "fortran_adapters.h"

#endif
