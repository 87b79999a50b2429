// The profiling interface. If the program itself, or a tool in front of us, defines MPI_X, it calls
// PMPI_X: that is where we see the call. A tool behind us calls it, too, in a call that we have
// seen (docs/decisions/0112-every-call-once.md).
#include <stdio.h>

#include "../address/unwind.h"
#include "../bind/bind.h"
#include "../bind/control.h"
#include "../bind/definition.h"
#include "../process/names.h"
#include "../process/state.h"
#include "../process/thread.h"

// The first caller of PMPI_X that is none of our functions, and whether one of ours or of MPI
// called it.
struct callers {
	bool other, ours, mpis;
};

static bool select_caller(uintptr_t pc, void *data)
{
	struct callers *c = data;

	if (!cairn_is_own(pc)) {
		c->other = true;
		c->mpis = cairn_in_library(pc);
	}
	c->ours = c->other && cairn_is_own(pc);
	return c->ours || c->mpis;
}

// is_tools_call reports whether the thread is in a call that we have seen and passed to a tool, and
// that has not come to MPI yet (whence a callback of the program may call PMPI_X).
static __attribute__((noinline)) bool is_tools_call(void)
{
	uintptr_t frames[CAIRN_MAX_FRAMES];
	struct callers c = {false, false, false};

	// what is passed on without a record is not noted anywhere
	if (cairn_self.depth == 0 && atomic_load(&cairn_state) != CAIRN_OFF)
		return false;
	cairn_unwind_begin();
	const int n = cairn_unwind(frames, CAIRN_START, NULL, select_caller, &c);
	return c.ours || (n == 0 && cairn_self.depth != 0);
}

// announce makes the wrapper call PMPI_X and not the tool behind us, which would not get this call
// without us.
static void announce(unsigned id, uintptr_t caller)
{
	struct cairn_announcement *a = &cairn_self.announcement;

	a->caller = caller;
	a->profiling = (uint32_t)caller;
	a->status = a; // not one that Fortran ignores
	a->calls++;
	cairn_self.announced = id;
}

// cairn_bind_profiling finds the target of PMPI_X as cairn_bind does for MPI_X.
void *cairn_bind_profiling(unsigned id, uintptr_t caller) CAIRN_HIDDEN;

void *cairn_bind_profiling(unsigned id, uintptr_t caller)
{
	void **slot = &cairn_profiling_slots[id];
	struct cairn_definition d, plain;
	const bool traced = cairn_must_record(id), known = cairn_recall(slot, caller, &d);
	char name[128];

	if (!known || !traced) {
		snprintf(name, sizeof(name), "P%s", cairn_name(id));
		if (!traced && cairn_pass_on(slot, name))
			return *slot;
		if (!known)
			d = cairn_definition(slot, name, caller);
		if (d.address == NULL)
			return cairn_not_there(name);
	}
	if (!traced || !d.mpi || cairn_wrapper_of(id) == NULL || cairn_profiling_is_hidden) {
		if (d.general)
			__atomic_store_n(slot, d.address, __ATOMIC_RELEASE);
		return d.address;
	}
	if (!cairn_recall(&cairn_slots[id], caller, &plain))
		plain = cairn_definition(&cairn_slots[id], cairn_name(id), caller);
	if (plain.address == NULL || !plain.mpi)
		plain = d; // functions of the program's own under this name are behind us
	__atomic_store_n(&cairn_real[id], plain.address, __ATOMIC_RELEASE);
	if (!plain.library)
		cairn_note_tool();
	if (!atomic_load(&cairn_tool_is_behind)) {
		void *target = cairn_lead(slot, id, d.address, d.general && plain.general);
		// Another thread may have noted a tool, and cleared the slot before it was written.
		atomic_thread_fence(memory_order_seq_cst);
		if (!atomic_load(&cairn_tool_is_behind))
			return target;
		__atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
	}
	if (!cairn_recorded(id) || (cairn_self.announced != id && (cairn_in_library(caller) || is_tools_call())))
		return d.address;
	if (!plain.library && cairn_self.announced != id)
		announce(id, caller);
	return cairn_wrapper_of(id);
}
