// What this process was started with: the signals that are ignored, blocked, and pending, one bit
// for each, and closed standard files. A program that is executed in its place gets the same.
#include <stdint.h>

uint64_t cairn_ignored_signals(void);
uint64_t cairn_blocked_signals(void);
uint64_t cairn_pending_signals(void);

// Has the standard files that were closed, and in which Go's runtime has opened /dev/null, closed
// in the program that is executed next.
void cairn_close_again(void);

// Starts a program in a new process, with the same ignored and blocked signals and closed files,
// and waits until it is executed. Returns the process's number, or the negative of an error's.
int cairn_spawn(const char *path, char **argv, char **envp);
