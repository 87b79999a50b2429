#include "feed.h"

#include "die.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum {
	FIRST = 64,         // first file descriptor of the pipes in the feeder; those of other threads follow
	PIPE_BYTES = 1 << 20, // how far it may run ahead
};

void cr_start_feeder(const char *program, const char *trace, const char *scratch, int rank, int *files, int n)
{
	char number[16], threads[16], first[16];
	char *const arguments[] = {(char *)program, "replay-feed", "--rank", number, "--threads", threads, "--first-file", first,
		"--scratch", (char *)scratch, "--", (char *)trace, NULL};
	posix_spawn_file_actions_t actions;
	int writing[n];
	pid_t process;

	snprintf(number, sizeof(number), "%d", rank);
	snprintf(threads, sizeof(threads), "%d", n);
	snprintf(first, sizeof(first), "%d", FIRST);
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < n; i++) {
		int ends[2];
		if (pipe2(ends, O_CLOEXEC) != 0)
			cr_die("cannot make a pipe: %s", strerror(errno));
		fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); // what an unprivileged process may have, or it stays smaller
		// out of the range of the feeder's file descriptors
		files[i] = fcntl(ends[0], F_DUPFD_CLOEXEC, FIRST + n);
		writing[i] = fcntl(ends[1], F_DUPFD_CLOEXEC, FIRST + n);
		if (files[i] < 0 || writing[i] < 0)
			cr_die("cannot make a pipe: %s", strerror(errno));
		close(ends[0]);
		close(ends[1]);
		posix_spawn_file_actions_adddup2(&actions, writing[i], FIRST + i);
	}
	const int error = posix_spawn(&process, program, &actions, NULL, arguments, environ);
	if (error != 0)
		cr_die("cannot start %s: %s", program, strerror(error));
	posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; i < n; i++)
		close(writing[i]);
}
