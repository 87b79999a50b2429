#include "state.h"

#include <stdio.h>

#include "clock.h"
#include "config.h"
#include "uninterrupted.h"

_Atomic int cairn_state;
_Atomic bool cairn_verifying;
bool cairn_clustered;
bool cairn_clock_is_tsc;
#ifdef __aarch64__
unsigned cairn_clock_shift;
#endif
struct cairn_config cairn_config;

void *cairn_slots[CAIRN_FUNCTIONS];
void *cairn_profiling_slots[CAIRN_FUNCTIONS];
void *cairn_real[CAIRN_FUNCTIONS];
uintptr_t cairn_library_begin, cairn_library_size;

void cairn_stop(const char *why)
{
	int was = atomic_exchange(&cairn_state, CAIRN_OFF);
	cairn_verifying = false;
	if (was != CAIRN_OFF && why != NULL) {
		const struct cairn_uninterrupted before = cairn_uninterrupted_begin(); // stderr has a lock
		fprintf(stderr, "cairn: %s: this process continues untraced\n", why);
		cairn_uninterrupted_end(before);
	}
}
