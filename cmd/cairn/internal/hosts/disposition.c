#include "disposition.h"

#include <signal.h>
#include <string.h>

static uint64_t ignored, blocked, pending;

static uint64_t bit(int sig) { return (uint64_t)1 << (sig - 1); }

static uint64_t bits(const sigset_t *set)
{
	uint64_t all = 0;
	for (int sig = 1; sig <= 64; sig++)
		if (sigismember(set, sig) == 1)
			all |= bit(sig);
	return all;
}

// Go's runtime, which starts later, changes all of it.
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
	blocked = bits(&set);
	sigpending(&set);
	pending = bits(&set);
}

uint64_t cairn_ignored_signals(void) { return ignored; }

uint64_t cairn_blocked_signals(void) { return blocked; }

uint64_t cairn_pending_signals(void) { return pending; }
