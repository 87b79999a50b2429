#include "reference.h"

#include <errno.h>
#include <stdio.h>

#include "../process/config.h"
#include "../process/loader.h"
#include "../process/state.h"
#include "../process/thread.h"

const struct cairn_reference *_Atomic cairn_reference;

static void give_up(void)
{
	cairn_verifying = false;
}

static const char *load(const struct cairn_reference_shim *shim)
{
	__typeof__(&cairn_reference_begin) begin = NULL;
	void *library = cairn_dlopen(cairn_config.reference, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		const char *why = cairn_dlerror();
		return why != NULL ? why : "its library cannot be loaded";
	}
	*(void **)&begin = cairn_dlsym(library, "cairn_reference_begin");
	if (begin == NULL)
		return "its library is another one";
	cairn_reference = begin(shim);
	return NULL;
}

bool cairn_reference_load(void *(*inner)(unsigned), void *(*symbol)(const char *), void *(*variable)(const char *), bool (*knows)(unsigned, uint64_t))
{
	const struct cairn_reference_shim shim = {inner, symbol, variable, cairn_thread_number, give_up, knows};
	const int saved = errno;
	const char *failed = load(&shim);

	if (failed != NULL)
		fprintf(stderr, "cairn: no reference log is written: %s\n", failed);
	errno = saved;
	return failed == NULL;
}
