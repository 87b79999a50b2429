#include "../bind/bind.h"
#include "../bind/reference.h"
#include "../process/abi.h"
#include "../process/thread.h"
#include "entries.h"
#include "library.h"
#include "lines.h"

// Queries to MPI use a copy of the shim's own code (ask.c), which finds here what it finds in
// other files there.
static struct cairn_reference_shim shim;

const struct cairn_reference_shim *cairn_library_shim(void)
{
	return &shim;
}

void *cairn_inner(unsigned id)
{
	return shim.inner(id);
}

void *cairn_symbol(const char *name)
{
	return shim.symbol(name);
}

void *cairn_variable(const char *name)
{
	return shim.variable(name);
}

uint32_t cairn_thread_number(void)
{
	return shim.thread_number();
}

void cairn_line_give_up(void)
{
	shim.give_up();
}

__attribute__((visibility("default")))
const struct cairn_reference *cairn_reference_begin(const struct cairn_reference_shim *given)
{
	static const struct cairn_reference reference = {
		.open = cairn_line_open,
		.stamps = cairn_line_stamps,
		.write = &cairn_reference_writers,
	};

	shim = *given;
	cairn_entries_begin();
	return &reference;
}
