#include "watch.h"

#include <stdatomic.h>

#include "context.h"
#include "life.h"
#include "usage.h"

static atomic_flag watching = ATOMIC_FLAG_INIT; // a thread samples, or has been interrupted while it does
static _Atomic uint64_t due;                    // in ticks

void cairn_watch(uint64_t now, double tick_ns)
{
	cairn_life_alive(now);
	if (now < atomic_load_explicit(&due, memory_order_relaxed) || atomic_flag_test_and_set(&watching))
		return;
	const uint64_t context = cairn_context_watch(), usage = cairn_usage_watch();
	const uint64_t ns = context < usage ? context : usage;
	atomic_store_explicit(&due, now + (uint64_t)((double)ns / tick_ns), memory_order_relaxed);
	atomic_flag_clear(&watching);
}

void cairn_watch_end(void)
{
	if (atomic_flag_test_and_set(&watching))
		return;
	cairn_usage_end();
	atomic_flag_clear(&watching);
}
