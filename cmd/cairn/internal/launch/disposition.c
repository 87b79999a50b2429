#define _GNU_SOURCE
#include "disposition.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t ignored, blocked, pending;
static int closed[3]; // standard files

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
	for (int fd = 0; fd < 3; fd++)
		closed[fd] = fcntl(fd, F_GETFD) == -1;
}

uint64_t cairn_ignored_signals(void) { return ignored; }

uint64_t cairn_blocked_signals(void) { return blocked; }

uint64_t cairn_pending_signals(void) { return pending; }

void cairn_close_again(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (closed[fd])
			fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void become(const char *path, char **argv, char **envp)
{
	sigset_t mask;
	sigemptyset(&mask);
	for (int sig = 1; sig <= 64; sig++) {
		struct sigaction action;
		memset(&action, 0, sizeof(action));
		action.sa_handler = ignored & bit(sig) ? SIG_IGN : SIG_DFL;
		sigaction(sig, &action, NULL);
		if (blocked & bit(sig))
			sigaddset(&mask, sig);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	cairn_close_again();
	execve(path, argv, envp);
}

int cairn_spawn(const char *path, char **argv, char **envp)
{
	sigset_t all, before;
	int report[2], failure = 0;
	if (pipe2(report, O_CLOEXEC) != 0)
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); // no handler of Go's runs in the new process
	pid_t pid = fork();
	if (pid == 0) {
		become(path, argv, envp);
		failure = errno;
		(void)!write(report[1], &failure, sizeof(failure));
		_exit(127);
	}
	if (pid < 0)
		failure = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (pid > 0 && read(report[0], &failure, sizeof(failure)) > 0)
		waitpid(pid, NULL, 0);
	close(report[0]);
	return failure != 0 ? -failure : pid;
}
