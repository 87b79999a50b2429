/*
 * A rank that has offered its core, because it polled in vain, is called last when its message is there: it has used up
 * its share. With CAIRN_TEST_PAUSE_US it sleeps so long in the place of offering, and is called at once, as if nothing else
 * ran: what a message takes is then what the network takes.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long pause_ns = -1;

int sched_yield(void)
{
	if (pause_ns < 0) { /* every thread finds the same */
		const char *us = getenv("CAIRN_TEST_PAUSE_US");
		pause_ns = us ? atol(us) * 1000 : 0;
	}
	if (pause_ns == 0)
		return (int)syscall(SYS_sched_yield);
	struct timespec t = {.tv_nsec = pause_ns};
	nanosleep(&t, NULL);
	return 0;
}
