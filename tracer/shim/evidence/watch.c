#include "watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../process/loader.h"
#include "../process/state.h"
#include "context.h"
#include "life.h"
#include "usage.h"

static void *watch(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "cairn");
	cairn_usage_is_tool((int)syscall(SYS_gettid));
	for (;;) {
		const uint64_t waits[] = {cairn_context_watch(), cairn_usage_watch(), cairn_life_watch()};
		uint64_t ns = waits[0];
		for (size_t i = 1; i < sizeof(waits) / sizeof(waits[0]); i++)
			ns = waits[i] < ns ? waits[i] : ns;
		const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
		nanosleep(&pause, NULL);
	}
	return NULL;
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
