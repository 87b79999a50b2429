#include "core.h"

#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "loader.h"

static int (*start)(const char *spool, const char *process_json);
static void *(*segment)(uint32_t thread, void *full, uint64_t minimum, uint64_t *capacity);

enum { SIGNALS = 65 };

// A Go library installs signal handlers when it is loaded, and would turn a crash of the application into a Go
// traceback with exit code 2. The application keeps its dispositions: we put back what was changed. Go's own threads
// are started with all signals blocked, so that no handler of the application runs on a goroutine's small stack (Go
// unblocks the synchronous ones, SIGPROF and SIGCHLD again; the kernel prefers the main thread for the last two).
static void remember(struct sigaction old[SIGNALS])
{
	for (int s = 1; s < SIGNALS; s++)
		if (sigaction(s, NULL, &old[s]) != 0)
			old[s].sa_handler = SIG_ERR;
}

static void put_back(const struct sigaction old[SIGNALS])
{
	for (int s = 1; s < SIGNALS; s++) {
		struct sigaction now;
		if (old[s].sa_handler == SIG_ERR || sigaction(s, NULL, &now) != 0)
			continue;
		if (now.sa_handler != old[s].sa_handler || now.sa_flags != old[s].sa_flags)
			sigaction(s, &old[s], NULL);
	}
}

const char *cairn_core_load(const char *library, const char *spool, const char *process_json)
{
	static char why[512];
	struct sigaction old[SIGNALS];
	sigset_t all, mask;
	const char *failed = NULL;
	void *handle;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	remember(old);
	handle = cairn_dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		const char *e = cairn_dlerror();
		snprintf(why, sizeof(why), "%s", e ? e : "the core cannot be loaded");
		failed = why;
	} else {
		*(void **)&start = cairn_dlsym(handle, "cairn_core_start");
		*(void **)&segment = cairn_dlsym(handle, "cairn_core_segment");
		if (start == NULL || segment == NULL) {
			failed = "libcairn-core.so is not the core";
		} else {
			int error = start(spool, process_json);
			if (error != 0) {
				snprintf(why, sizeof(why), "the core cannot write to %s: %s", spool, strerror(error));
				failed = why;
			}
		}
	}
	put_back(old);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return failed;
}

struct cairn_segment *cairn_core_segment(uint32_t thread, struct cairn_segment *full, uint64_t minimum, uint64_t *capacity)
{
	return segment(thread, full, minimum, capacity);
}
