#include "ring.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Not private: the other side is another process.
void cairn_ring_wake(const void *doorbell)
{
	syscall(SYS_futex, doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void cairn_ring_await(const void *doorbell)
{
	const struct timespec period = {.tv_nsec = CAIRN_PERIOD_NS};
	// Somebody may have made the file shorter, or written to it. Only the timer is left then.
	if (syscall(SYS_futex, doorbell, FUTEX_WAIT, 0, &period, NULL, 0) != 0 && errno != ETIMEDOUT && errno != EINTR)
		nanosleep(&period, NULL);
}
