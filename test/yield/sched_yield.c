/*
 * A rank that yields its core after an unsuccessful poll is scheduled last when its message arrives: it has used up its
 * share. With CAIRN_TEST_PAUSE_US it sleeps for that long instead of yielding, and is scheduled immediately, as if nothing
 * else ran: the time of a message is then that of the network.
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
