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
extern void *cairn_profiling_slots[] CAIRN_HIDDEN;

// Announced calls are recorded.
bool cairn_record_fortran CAIRN_HIDDEN;

void *cairn_bind_fortran(unsigned slot, uintptr_t caller) CAIRN_HIDDEN;
void *cairn_bind_profiling(unsigned id, uintptr_t caller) CAIRN_HIDDEN;

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

// cairn_bind_fortran is called from a Fortran symbol as cairn_bind is for C.
void *cairn_bind_fortran(unsigned slot, uintptr_t caller)
{
	struct cairn_definition d;
	bool known = cairn_recall(&cairn_fortran_slots[slot], caller, &d), traced = false;
	void *adapter, *target;

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
		adapter = cairn_fortran_adapter(cairn_self.announced);
		if (adapter != NULL) {
			cairn_is_library(adapter);
			__atomic_store_n(&cairn_fortran_behind[slot], d.address, __ATOMIC_RELEASE);
			target = adapter;
		}
#ifdef CAIRN_OPENMPI
		cairn_fortran_status_ignore = MPI_F_STATUS_IGNORE;
		cairn_fortran_statuses_ignore = MPI_F_STATUSES_IGNORE;
#endif
		cairn_record_fortran = true;
	}
	if (d.general)
		__atomic_store_n(&cairn_fortran_slots[slot], target, __ATOMIC_RELEASE);
	return target;
}

// cairn_bind_profiling finds the target of a PMPI function.
void *cairn_bind_profiling(unsigned id, uintptr_t caller)
{
	char name[128];
	struct cairn_definition d;

	if (cairn_recall(&cairn_profiling_slots[id], caller, &d))
		return d.address;
	snprintf(name, sizeof(name), "P%s", cairn_name(id));
	if (!cairn_traced() && cairn_pass_on(&cairn_profiling_slots[id], name))
		return cairn_profiling_slots[id];
	d = cairn_definition(&cairn_profiling_slots[id], name, caller);
	if (d.address == NULL)
		return cairn_not_there(name);
	if (d.general)
		__atomic_store_n(&cairn_profiling_slots[id], d.address, __ATOMIC_RELEASE);
	return d.address;
}

bool cairn_called_from_fortran_to(unsigned function, uint64_t *caller, void **real)
{
	if (!cairn_in_library(*caller))
		return true; // the caller is a library of the program, mapped between those of MPI
	if (cairn_self.announced != function)
		return false;
	*caller = cairn_self.announcement.caller | CAIRN_FORTRAN;
	*real = cairn_take_announcement(function, *real);
	return true;
}

void *cairn_take_announcement(unsigned function, void *real)
{
	struct cairn_announcement *a = &cairn_self.announcement;

	if (a->real != NULL)
		real = a->real;
	else if (a->profiling && cairn_inner(function) != NULL)
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
