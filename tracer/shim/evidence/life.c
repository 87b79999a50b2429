// A killed process cannot report anything. What is known of its end is in a mapped file, written by
// stores that need no completion:
//
// - The last time at which a thread looked at the clock for samples (watch.h): the process lived
//   until then. The compressor knows better (tracer/recorder/spool: alive.go).
// - The exit code passed to exit. _exit leaves none.
// - The number of calls that were not recorded while there was no buffer to count them in, and
//   whether MPI_Finalize was one of them.
// - That it ended without MPI_Init, and so has no directory: an empty file in the spool itself.
// - The signal of a crash, if it has a handler: MPI libraries set one to print a backtrace. A
//   function of ours is put before it and jumps to it, so that no frame of ours is in that
//   backtrace. We never add a handler where there is none, since a program may query it, and since
//   it would change how the process ends. So SIGKILL and most SIGTERM leave only the time.
#include "life.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../process/at_end.h"
#include "../process/clock.h"
#include "../process/config.h"
#include "../process/state.h"
#include "observed.h"

// Format read by tracer/recorder/observed/life.go. Times are ticks of the records'
// clock, 0 if unknown.
struct file {
	char magic[8];
	_Atomic uint64_t alive;
	_Atomic uint64_t signal, signal_at;
	_Atomic uint64_t exit, exit_at; // 1 + the exit code
	_Atomic uint64_t lost;      // calls that are in no buffer
	_Atomic uint64_t finalized; // 1: MPI_Finalize was called after tracing had stopped
};
CAIRN_LAYOUT_LIFE(struct file);

static struct file *file; // NULL: there is none
static pid_t owner;       // a child shares the mapping and must not write to it
static _Atomic bool counts; // unrecorded calls are counted in the file; false in a child

// Crash signals, and their handlers. Those of one argument get three and do not look at them.
typedef void handler(int number, siginfo_t *info, void *context);
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof(crashes) / sizeof(crashes[0]) };
static handler *handlers[CRASHES];

static void at_exit(int code, void *unused)
{
	(void)unused;
	if (getpid() != owner)
		return;
	atomic_store(&file->exit_at, cairn_now());
	if (code != CAIRN_CODE_UNKNOWN)
		atomic_store(&file->exit, (uint64_t)(code & 0xff) + 1);
}

// note returns the handler of a signal; of one that the program has given this handler to, any.
static handler *note(int number)
{
	handler *found = NULL;

	if (getpid() == owner) {
		atomic_store(&file->signal_at, cairn_now());
		atomic_store(&file->signal, (uint64_t)number);
	}
	for (int i = 0; i < CRASHES; i++)
		if (handlers[i] != NULL && (found == NULL || crashes[i] == number))
			found = handlers[i];
	return found;
}

// The compiler makes a jump of this call, so that the handler finds the stack as the kernel has left
// it (TestUntouched compares what handlers find). If it returns, the program may continue, or end with
// the same signal. A reader can distinguish these by the time until which the process lived.
static void crashed(int number, siginfo_t *info, void *context)
{
	note(number)(number, info, context);
}

// shipper/local.go looks for it.
static const char UNINITIALIZED[] = "uninitialized";

static void at_exit_before_init(int code, void *pid)
{
	char path[sizeof(cairn_config.spool) + sizeof(UNINITIALIZED) + 1];
	const int saved = errno;
	int made;

	(void)code;
	if (getpid() != (pid_t)(intptr_t)pid || atomic_load(&cairn_state) != CAIRN_EARLY)
		return;
	snprintf(path, sizeof(path), "%s/%s", cairn_config.spool, UNINITIALIZED);
	made = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
	if (made >= 0)
		close(made);
	errno = saved;
}

void cairn_life_called(void)
{
	cairn_at_exit(at_exit_before_init, (void *)(intptr_t)getpid());
}

void cairn_life_begin(void)
{
	file = cairn_observed(CAIRN_OBSERVED_LIFE, sizeof(*file));
	if (file == NULL)
		return;
	owner = getpid();
	atomic_store(&file->alive, cairn_now());
	atomic_thread_fence(memory_order_release);
	memcpy(file->magic, CAIRN_LIFE_MAGIC, sizeof(file->magic));
	cairn_at_exit(at_exit, NULL);
	atomic_store(&counts, true);
}

bool cairn_life_counts(void)
{
	return atomic_load_explicit(&counts, memory_order_relaxed);
}

bool cairn_life_lost(uint64_t calls)
{
	if (!cairn_life_counts())
		return false;
	atomic_fetch_add_explicit(&file->lost, calls, memory_order_relaxed);
	return true;
}

void cairn_life_finalized(void)
{
	if (cairn_life_counts())
		atomic_store_explicit(&file->finalized, 1, memory_order_relaxed);
}

void cairn_life_in_child(void)
{
	atomic_store(&counts, false);
}

void cairn_life_alive(uint64_t now)
{
	if (cairn_life_counts())
		atomic_store_explicit(&file->alive, now, memory_order_relaxed);
}

void cairn_life_initialized(void)
{
	if (file == NULL)
		return;
	for (int i = 0; i < CRASHES; i++) {
		struct sigaction a;
		if (sigaction(crashes[i], NULL, &a) != 0 || a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN ||
		    a.sa_sigaction == crashed)
			continue;
		handlers[i] = a.sa_sigaction;
		a.sa_sigaction = crashed;
		(void)sigaction(crashes[i], &a, NULL);
	}
}
