// Replaces libc's sigaction for the Go runtime, and installs nothing. A Go library installs signal
// handlers when it is loaded. They would turn a crash of the application into a Go traceback with
// exit code 2, and would race with other threads that set or query handlers. (The runtime's threads
// start with all signals blocked, so that no handler of the application runs on a goroutine's small
// stack. Go unblocks the synchronous ones, SIGPROF and SIGCHLD again; the kernel prefers the main
// thread for the last two.)
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
