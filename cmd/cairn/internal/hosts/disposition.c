#include "disposition.h"

#include <signal.h>
#include <string.h>

static uint64_t ignored, blocked;

static uint64_t bit(int sig) { return (uint64_t)1 << (sig - 1); }

// Go's runtime, which starts later, replaces both.
__attribute__((constructor)) static void save(void)
{
	sigset_t set;
	for (int sig = 1; sig <= 64; sig++) {
		struct sigaction action;
		memset(&action, 0, sizeof(action));
		if (sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
			ignored |= bit(sig);
	}
	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int sig = 1; sig <= 64; sig++)
		if (sigismember(&set, sig) == 1)
			blocked |= bit(sig);
}

uint64_t cairn_ignored_signals(void) { return ignored; }

uint64_t cairn_blocked_signals(void) { return blocked; }
