#include "fortran.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bind/bind.h"
#include "../bind/control.h"
#include "../bind/definition.h"
#include "../evidence/life.h"
#include "../process/constants.h"
#include "../process/loader.h"
#include "../process/names.h"
#include "../record/record.h"

#define ENTRY_NEEDS(field, offset) \
	_Static_assert(offsetof(struct cairn_thread, field) == (offset), "fortran_entry.inc")
ENTRY_NEEDS(announced, 76);
ENTRY_NEEDS(announcement.caller, 248);
ENTRY_NEEDS(announcement.slot, 256);
ENTRY_NEEDS(announcement.calls, 260);
ENTRY_NEEDS(announcement.profiling, 264);
ENTRY_NEEDS(announcement.status, 280);

#ifdef CAIRN_OPENMPI
const void *cairn_fortran_status_ignore, *cairn_fortran_statuses_ignore;
#endif

extern void *cairn_fortran_slots[] CAIRN_HIDDEN;

void *cairn_bind_fortran(unsigned slot, uintptr_t caller) CAIRN_HIDDEN;

static const char *symbol_name(unsigned slot)
{
	const char *name = cairn_fortran_names;
	while (slot-- > 0)
		name += strlen(name) + 1;
	return name;
}

// The library procedures behind the symbols that lead to an adapter.
extern void *cairn_fortran_behind[] CAIRN_HIDDEN;

void *cairn_fortran_real(unsigned slot)
{
	return __atomic_load_n(&cairn_fortran_behind[slot], __ATOMIC_ACQUIRE);
}

// withdraw undoes the announcement of a call that is none of MPI.
static void withdraw(void)
{
	cairn_self.announced = 0;
	cairn_self.announcement.calls--;
}

// know_layer adds the libraries of the Fortran layer to those whose calls are not the program's.
static void know_layer(struct cairn_definition d)
{
	static const char below[] = "pmpi_init_"; // the layer below the module mpi_f08 in Open MPI

	if (d.library)
		cairn_is_library(d.address);
	d = cairn_definition(below, below, (uintptr_t)d.address);
	if (d.library)
		cairn_is_library(d.address);
}

// may_be_tools reports whether a tool may call this symbol in a call that we have announced: it is
// one of the profiling interface, and ours of the call leads to the tool.
static bool may_be_tools(const char *symbol, uintptr_t caller)
{
	return symbol[0] == 'p' && !cairn_definition(symbol + 1, symbol + 1, caller).library;
}

static const unsigned OF_LAYER = 0x80000000; // in a slot: a Fortran layer calls another one

// cairn_bind_fortran is called from a Fortran symbol as cairn_bind is for C.
void *cairn_bind_fortran(unsigned slot, uintptr_t caller)
{
	const bool of_layer = (slot & OF_LAYER) != 0;
	slot &= ~OF_LAYER;
	struct cairn_definition d;
	bool known = cairn_recall(&cairn_fortran_slots[slot], caller, &d), traced = false;
	void *adapter, *target;

	if (of_layer) { // not announced
		if (!known)
			d = cairn_definition(&cairn_fortran_slots[slot], symbol_name(slot), caller);
		return d.address != NULL ? d.address : cairn_not_there(symbol_name(slot));
	}
	if (!known || d.mpi) {
		traced = cairn_traced() || cairn_life_counts(); // otherwise its calls are counted
		if (!traced && cairn_pass_on(&cairn_fortran_slots[slot], symbol_name(slot)))
			return cairn_fortran_slots[slot];
		if (!known)
			d = cairn_definition(&cairn_fortran_slots[slot], symbol_name(slot), caller);
	}
	if (!d.mpi)
		withdraw();
	if (d.address == NULL)
		return cairn_not_there(symbol_name(slot));
	target = d.address;
	if (traced && d.mpi) {
		if (!known)
			know_layer(d);
		if (!d.library)
			cairn_note_tool();
		adapter = cairn_fortran_adapter(cairn_self.announced);
		if (adapter != NULL && may_be_tools(symbol_name(slot), caller)) {
			withdraw();
			return target;
		}
		if (adapter != NULL) {
			__atomic_store_n(&cairn_fortran_behind[slot], d.address, __ATOMIC_RELEASE);
			target = adapter;
		}
#ifdef CAIRN_OPENMPI
		cairn_fortran_status_ignore = MPI_F_STATUS_IGNORE;
		cairn_fortran_statuses_ignore = MPI_F_STATUSES_IGNORE;
#endif
	}
	if (d.general)
		__atomic_store_n(&cairn_fortran_slots[slot], target, __ATOMIC_RELEASE);
	return target;
}

bool cairn_is_programs_at(unsigned function, uint64_t *caller, void **real)
{
	if (cairn_is_announced(function)) {
		const uint64_t announced = cairn_self.announcement.caller;
		*real = cairn_take_announcement(function, *caller, *real);
		*caller = announced | (announced != *caller ? CAIRN_FORTRAN : 0);
		return true;
	}
	return !cairn_in_library(*caller) && (cairn_self.depth == 0 || !cairn_in_component(*caller));
}

void *cairn_take_announcement(unsigned function, uint64_t caller, void *real)
{
	struct cairn_announcement *a = &cairn_self.announcement;

	if (a->real != NULL)
		real = a->real;
	else if (a->profiling == (uint32_t)caller && cairn_inner(function) != NULL)
		real = cairn_inner(function);
	a->real = NULL;
	a->profiling = 0;
	cairn_self.announced = 0;
	// A Fortran layer that does not call the C function: some calls were not recorded.
	if (CAIRN_UNLIKELY(a->calls != ++a->seen)) {
		if (!cairn_leaves_out())
			cairn_count_dropped(a->calls - a->seen);
		a->seen = a->calls;
	}
	return real;
}

void cairn_fortran_function(cairn_constant_visitor visit, void *data, const char *text, size_t length, const char *name)
{
	// Symbols of mpif.h and the module mpi, as compilers mangle names; of the module mpi_f08 of
	// Open MPI; then of MPICH with gfortran, flang and nvfortran, ifort and ifx.
	static const char *const forms[] = {"%s_", "%s__", "%s", "%s_f08_", "__mpi_f08_callbacks_MOD_%s", "mpi_f08_callbacks_%s_", "mpi_f08_callbacks_mp_%s_"};
	enum { FORMS = sizeof(forms) / sizeof(forms[0]) };
	static bool looked, there[FORMS];
	char lower[64], symbol[128];
	size_t i;

	// A library mangles all its names in the same way. The form is determined once, since looking
	// up a missing name searches every library.
	for (i = 0; i < FORMS && !looked; i++) {
		snprintf(symbol, sizeof(symbol), forms[i], "mpi_comm_dup_fn");
		there[i] = cairn_dlsym(RTLD_DEFAULT, symbol) != NULL;
	}
	looked = true;

	for (i = 0; name[i] != 0 && i < sizeof(lower) - 1; i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + ('a' - 'A') : name[i]);
	lower[i] = 0;
	for (i = 0; i < FORMS; i++) {
		if (!there[i])
			continue;
		snprintf(symbol, sizeof(symbol), forms[i], lower);
		void *at = cairn_dlsym(RTLD_DEFAULT, symbol);
		if (at != NULL)
			visit(data, "function", text, length, (int64_t)(intptr_t)at);
	}
}
