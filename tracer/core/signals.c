// A Go library installs signal handlers when it is loaded, which would turn a crash of the application into a Go traceback
// with exit code 2, and would be in the way of whoever sets or asks for handlers just then on another thread. The runtime
// does it with this function, in place of libc's: it installs nothing. (The runtime's threads are started with all signals
// blocked, so that no handler of the application runs on a goroutine's small stack. Go unblocks the synchronous ones,
// SIGPROF and SIGCHLD again; the kernel prefers the main thread for the last two.)
#include <signal.h>
#include <string.h>

__attribute__((visibility("hidden")))
int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	(void)signal, (void)action;
	if (old != NULL)
		memset(old, 0, sizeof(*old)); // SIG_DFL
	return 0;
}
