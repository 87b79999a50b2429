#include "watch.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../process/loader.h"
#include "../process/state.h"
#include "../spool/answer.h"
#include "context.h"
#include "life.h"
#include "usage.h"

enum { AFTER_MAIN_NS = 10000000 }; // between two looks for other threads once the main thread has ended

// main_has_ended reports whether the main thread has ended and the process has not: pthread_exit.
// Its list of robust mutexes is gone then.
static bool main_has_ended(void)
{
	void *list;
	size_t size;

	return syscall(SYS_get_robust_list, getpid(), &list, &size) == 0 && list == NULL;
}

// is_alone reports whether only this thread lives on after the main thread, which still counts, or
// whether that cannot be told.
static bool is_alone(void)
{
	enum { NO_FOLDERS = 2, BOTH = 2 };
	struct stat tasks;

	// (stat is a symbol of glibc 2.33.)
	return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) != 0 || tasks.st_nlink <= NO_FOLDERS + BOTH;
}

// watch ends when the program has: with the last thread the C library ends the process, and the
// program does not know of this one.
static void *watch(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "cairn");
	cairn_usage_is_tool((int)syscall(SYS_gettid));
	for (;;) {
		const bool ended = main_has_ended();
		if (ended && is_alone())
			return NULL;
		const uint64_t waits[] = {cairn_context_watch(), cairn_usage_watch(), cairn_life_watch(), cairn_answer_watch()};
		uint64_t ns = ended ? AFTER_MAIN_NS : UINT64_MAX;
		for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
			ns = waits[i] < ns ? waits[i] : ns;
		const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
		nanosleep(&pause, NULL);
	}
}

void cairn_watch_begin(void)
{
	static atomic_flag begun = ATOMIC_FLAG_INIT;
	sigset_t all, mask;
	pthread_t thread;

	if (cairn_pthread_create == NULL || atomic_load(&cairn_state) != CAIRN_ON || atomic_flag_test_and_set(&begun))
		return;
	// no handler of the application must run on our thread
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	(void)cairn_pthread_create(&thread, NULL, watch, NULL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}
