#include "control.h"

#include <stdio.h>
#include <string.h>

#include "../evidence/evidence.h"
#include "../evidence/life.h"
#include "../process/state.h"
#include "../process/thread.h"

extern const int32_t cairn_wrapper_distance[] CAIRN_HIDDEN;

static _Atomic uint32_t excluded; // bit k: group k is excluded
static _Atomic bool off;
static _Atomic bool was_off; // recording was off at some time

// named returns the bits of the groups in a comma-separated list. The list was validated before.
static uint32_t named(const char *list)
{
	uint32_t groups = 0;
	while (*list != 0) {
		size_t n = strcspn(list, ",");
		for (unsigned g = 0; g < CAIRN_GROUPS; g++)
			if (strlen(cairn_group_name[g]) == n && memcmp(cairn_group_name[g], list, n) == 0)
				groups |= 1u << g;
		list += n + (list[n] == ',');
	}
	return groups;
}

void cairn_control_start(const char *include, const char *exclude, bool start_off)
{
	uint32_t without = named(exclude);
	if (include[0] != 0)
		without |= ~named(include) & ((1u << CAIRN_GROUPS) - 1);
	atomic_store(&excluded, without);
	atomic_store(&off, start_off);
	atomic_store(&was_off, start_off);
}

void cairn_excluded(char *out, uint64_t size)
{
	uint64_t n = 0;
	out[0] = 0;
	for (unsigned g = 0; g < CAIRN_GROUPS; g++)
		if ((atomic_load(&excluded) >> g & 1) != 0 && n < size)
			n += (uint64_t)snprintf(out + n, size - n, "%s%s", n > 0 ? "," : "", cairn_group_name[g]);
}

bool cairn_recorded(unsigned id)
{
	unsigned group = cairn_group[id];
	return group == 0 || (cairn_clustered && cairn_marker[id]) || (!atomic_load(&off) && (atomic_load(&excluded) >> (group - 1) & 1) == 0);
}

bool cairn_leaves_out(void)
{
	return atomic_load(&was_off) || atomic_load(&excluded) != 0;
}

// lead changes where a slot leads, unless each call is bound anew.
static void lead(void **slot, void *target)
{
	if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != NULL)
		__atomic_store_n(slot, target, __ATOMIC_RELEASE);
}

static void turn(bool turn_off)
{
	atomic_store(&off, turn_off);
	atomic_fetch_add(&cairn_untraced, 1);
	cairn_self.announced = 0; // of a call that was not recorded
	if (turn_off)
		atomic_store(&was_off, true);
	for (unsigned id = 0; id < CAIRN_FUNCTIONS; id++) {
		void *real = __atomic_load_n(&cairn_real[id], __ATOMIC_ACQUIRE), *target = real;
		if (real == NULL || cairn_group[id] == 0)
			continue; // not bound
		if (cairn_recorded(id))
			target = (char *)cairn_wrapper_distance + cairn_wrapper_distance[id];
		lead(&cairn_slots[id], target);
		lead(&cairn_profiling_slots[id], target);
	}
}

void cairn_control(int level)
{
	struct cairn_thread *t = &cairn_self;

	if (atomic_load(&cairn_state) == CAIRN_OFF && !cairn_life_counts())
		return; // tracing has stopped: calls are counted where they would be recorded
	switch (level) {
	case 0:
	case 1:
		turn(level == 0);
		break;
	case 2:
		// Make the next call find no room, so that it takes another buffer.
		if (t->buffer != NULL && atomic_load(&cairn_state) == CAIRN_ON)
			t->soft = t->cursor;
		break;
	}
}
