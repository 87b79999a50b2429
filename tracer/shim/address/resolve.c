#include "resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../process/config.h"

struct command {
	char *program, **arguments;
	char *grandchild_stack;
};

enum { STACK = 65536 };

// run becomes the resolver. Until execve it shares the application's memory, so it only
// makes system calls.
static int run(void *data)
{
	struct command *c = data;
	struct sigaction ignore = {.sa_handler = SIG_DFL};
	sigset_t none;
	int null;

	for (int s = 1; s < 65; s++)
		if (s != SIGKILL && s != SIGSTOP)
			sigaction(s, &ignore, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpriority(PRIO_PROCESS, 0, 19);
	// No descriptor may stay open: somebody may wait for the end of a pipe or connection.
	null = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	if (syscall(436 /* close_range */, 3u, ~0u, 0u) != 0)
		for (int i = 3; i < 4096; i++)
			close(i);
	execve(c->program, c->arguments, (char *[]){NULL});
	_exit(127);
}

// detach starts the resolver as a grandchild, which is then adopted by init.
static int detach(void *data)
{
	struct command *c = data;
	setsid();
	clone(run, c->grandchild_stack, CLONE_VM | CLONE_VFORK, c);
	_exit(0);
}

void cairn_resolve(const char *binary, const char *id)
{
	static char program[sizeof(cairn_config.root) + 8], out[sizeof(cairn_config.spool) + 16];
	char marker[sizeof(out) + 256];
	struct command c;
	sigset_t all, mask;
	char *stacks;
	int file, pid;

	if (!cairn_config.call_sites || id[0] == 0)
		return;
	snprintf(program, sizeof(program), "%s/cairn", cairn_config.root);
	if (access(program, X_OK) != 0)
		return;
	snprintf(out, sizeof(out), "%s/symbols", cairn_config.spool);
	mkdir(out, 0777);
	chmod(out, 01777);
	snprintf(marker, sizeof(marker), "%s/%s.started", out, id);
	file = open(marker, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (file < 0)
		return; // another rank resolves it
	close(file);
	stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (stacks == MAP_FAILED)
		return;
	c.program = program;
	c.arguments = (char *[]){program, "resolve", "--executable", (char *)binary, "--out", out, NULL};
	c.grandchild_stack = stacks + 2 * STACK;
	// Exit signal 0: there is no SIGCHLD, and no wait of the application returns this child; we
	// wait for it with __WCLONE. All signals are blocked in it, so no handler of the
	// application runs there.
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	pid = clone(detach, stacks + STACK, CLONE_VM | CLONE_VFORK, &c);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (pid > 0)
		while (waitpid(pid, NULL, __WCLONE) < 0 && errno == EINTR)
			;
	munmap(stacks, 2 * STACK);
}
