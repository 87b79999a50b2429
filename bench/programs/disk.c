/*
 * Calls whose records fill a few megabytes a second, in short bursts. It prints one line "asleep": how long all bursts
 * slept, how long the one that slept longest, in ns, and how many slept for more than a millisecond. Waits for a CPU do
 * not count.
 *
 *	disk SECONDS      make bench-tracer-disk runs it
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int schedstat; /* the kernel's file of the thread */

static long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* asleep is how long the thread has slept so far. */
static long asleep(void)
{
	char text[128] = "";
	long delayed = 0;
	if (pread(schedstat, text, sizeof text - 1, 0) > 0)
		sscanf(text, "%*d %ld", &delayed);
	return ns(CLOCK_MONOTONIC) - ns(CLOCK_THREAD_CPUTIME_ID) - delayed;
}

int main(int argc, char **argv)
{
	enum { calls = 40, least = 20000 /* ns; less is the cost of measuring */ };
	const struct timespec pause = {0, 1000000};
	const long end = ns(CLOCK_MONOTONIC) + 1000000000L * (argc > 1 ? atol(argv[1]) : 60);
	long all = 0, longest = 0, many = 0, in, out = 0;

	MPI_Init(&argc, &argv);
	schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	for (int n = 0; ns(CLOCK_MONOTONIC) < end; n++) {
		const long before = asleep();
		for (int i = 0; i < calls; i++)
			MPI_Sendrecv(&out, 1, MPI_LONG, 0, n * calls % 30000 + i, &in, 1, MPI_LONG, 0, MPI_ANY_TAG, MPI_COMM_SELF,
				     MPI_STATUS_IGNORE);
		const long slept = asleep() - before;
		if (slept > least)
			all += slept;
		if (slept > longest)
			longest = slept;
		many += slept > 1000000;
		nanosleep(&pause, NULL);
	}
	printf("asleep %ld %ld %ld\n", all, longest, many);
	MPI_Finalize();
	return 0;
}
