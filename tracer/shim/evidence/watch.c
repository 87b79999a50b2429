#include "watch.h"

#include <stdatomic.h>

#include "../process/uninterrupted.h"
#include "context.h"
#include "life.h"
#include "pressure.h"
#include "usage.h"

static struct cairn_rare watching; // a thread samples
static _Atomic uint64_t due;       // in ticks

void cairn_watch(uint64_t now, double tick_ns)
{
	cairn_life_alive(now);
	if (now < atomic_load_explicit(&due, memory_order_relaxed) || !cairn_rare_try(&watching))
		return;
	uint64_t ns = cairn_context_watch();
	const uint64_t others[] = {cairn_usage_watch(), cairn_pressure_watch()};
	for (int i = 0; i < 2; i++)
		ns = others[i] < ns ? others[i] : ns;
	atomic_store_explicit(&due, now + (uint64_t)((double)ns / tick_ns), memory_order_relaxed);
	cairn_rare_unlock(&watching);
}

void cairn_watch_end(void)
{
	if (!cairn_rare_try(&watching))
		return;
	cairn_usage_end();
	cairn_pressure_end();
	cairn_rare_unlock(&watching);
}
