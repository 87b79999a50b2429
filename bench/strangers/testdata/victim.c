// SPDX-License-Identifier: Apache-2.0
/*
 * What faults are injected into. It prints how many rounds of its work it has done, every 10 ms:
 *   victim compute | write FILE | touch MEGABYTES | sleep
 * A round of sleep is 2 ms before one "MPI function" and 1 ms before another, as cairn replay
 * sleeps; it prints the milliseconds of both.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

__attribute__((noinline)) static void cr_enter(long milliseconds)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += milliseconds * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	__asm__ volatile("");
}

__attribute__((noinline)) void cr_issue_MPI_Wait(double *took)
{
	const double begun = ms();
	cr_enter(2);
	*took += ms() - begun;
}

__attribute__((noinline)) void cr_issue_MPI_Send(double *took)
{
	const double begun = ms();
	cr_enter(1);
	*took += ms() - begun;
}

int main(int count, char **word)
{
	const char *work = count > 1 ? word[1] : "compute";
	const int file = strcmp(work, "write") == 0 ? open(word[2], O_CREAT | O_WRONLY | O_APPEND, 0644) : -1;
	const size_t size = strcmp(work, "touch") == 0 ? strtoul(word[2], NULL, 10) << 20 : 0;
	char *memory = size > 0 ? malloc(size) : NULL;
	double waits = 0, sends = 0, said = ms();
	volatile double x = 1;

	alarm(120);
	for (long rounds = 1;; rounds++) {
		if (strcmp(work, "sleep") == 0) {
			cr_issue_MPI_Wait(&waits);
			cr_issue_MPI_Send(&sends);
		} else if (file >= 0) {
			if (write(file, "x", 1) != 1)
				return 1;
			usleep(500);
		} else if (memory != NULL) {
			for (size_t i = 0; i < size; i += 4096)
				memory[i]++;
		} else {
			for (int i = 0; i < 10000; i++)
				x = x * 1.0000001;
		}
		if (ms() - said > 10) {
			said = ms();
			printf("%ld %.1f %.1f\n", rounds, waits, sends);
			fflush(stdout);
		}
	}
}
