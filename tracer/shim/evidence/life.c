// A process that is killed says nothing any more. What can be known of its end is in a mapped file, by stores that need
// nobody to finish them:
//
// - The time at which our thread last woke up: the process lived until then, and no longer than PERIOD after it.
// - The code that exit was called with. Who calls _exit leaves none.
// - How many calls were not recorded, once there is no segment to say so, and whether MPI_Finalize was one of them.
// - The signal by which it crashed, where somebody handles that already: MPI libraries do, to print where it happened. We
//   are called first and call them. Where there is no handler we set none: a program may ask for it, and the way in which
//   it ends is its own. So SIGKILL and most SIGTERM leave no trace but the time.
#include "life.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../process/clock.h"
#include "observed.h"

static const uint64_t PERIOD = 100000000;

// tracer/recorder/observed/life.go reads it. Times are ticks of the clock of the records, 0 for none.
struct file {
	char magic[8];
	_Atomic uint64_t alive;
	_Atomic uint64_t signal, signal_at;
	_Atomic uint64_t exit, exit_at; // 1 + the code
	_Atomic uint64_t lost;      // calls that were made and are in no segment
	_Atomic uint64_t finalized; // 1: MPI_Finalize was called after tracing had stopped
};
CAIRN_LAYOUT_LIFE(struct file);

static struct file *file; // NULL: there is none
static pid_t owner;       // a child has our memory, and writes to the same file
static _Atomic bool counts; // calls that are not recorded are noted in the file; not in a child

// The signals of a crash, and what was there before us.
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof(crashes) / sizeof(crashes[0]) };
static struct sigaction before[CRASHES];

static void at_exit(int code, void *unused)
{
	(void)unused;
	if (getpid() != owner)
		return;
	atomic_store(&file->exit_at, cairn_now());
	atomic_store(&file->exit, (uint64_t)(code & 0xff) + 1);
}

static void crashed(int number, siginfo_t *info, void *context)
{
	if (getpid() == owner) {
		atomic_store(&file->signal_at, cairn_now());
		atomic_store(&file->signal, (uint64_t)number);
	}
	for (int i = 0; i < CRASHES; i++) {
		if (crashes[i] != number)
			continue;
		if (before[i].sa_flags & SA_SIGINFO)
			before[i].sa_sigaction(number, info, context);
		else
			before[i].sa_handler(number);
	}
	// If it returns, the program may go on, or end by the same signal. Who reads the note sees by the time until which the
	// process lived.
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
	(void)on_exit(at_exit, NULL);
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

uint64_t cairn_life_watch(void)
{
	if (file == NULL)
		return UINT64_MAX / 2;
	atomic_store_explicit(&file->alive, cairn_now(), memory_order_relaxed);
	return PERIOD;
}

void cairn_life_initialized(void)
{
	if (file == NULL)
		return;
	for (int i = 0; i < CRASHES; i++) {
		struct sigaction now, mine;
		if (sigaction(crashes[i], NULL, &now) != 0 || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN ||
		    now.sa_sigaction == crashed)
			continue;
		before[i] = mine = now;
		mine.sa_sigaction = crashed;
		mine.sa_flags |= SA_SIGINFO;
		(void)sigaction(crashes[i], &mine, NULL);
	}
}
