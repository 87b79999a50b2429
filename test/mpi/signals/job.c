// A job that is sent signals. Rank 0 says what it does, so that the test knows when to send one.
//   job loop            calls MPI_Allreduce without end, 50 times a second
//   job early           waits without end before MPI_Init
//   job late            waits without end after MPI_Finalize
//   job many N          makes N calls as fast as it can, and ends
//   job graceful        as loop, but ends in good order when it gets SIGTERM
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void ask(int signal)
{
	(void)signal;
	asked = 1;
}

static void say(const char *what, int number)
{
	printf("%s %d\n", what, number);
	fflush(stdout);
}

static void wait_without_end(void)
{
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int rank, flag;

	if (strcmp(mode, "early") == 0) {
		say("early", 0);
		wait_without_end();
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(mode, "graceful") == 0)
		signal(SIGTERM, ask);
	if (strcmp(mode, "many") == 0) {
		for (int i = 0; i < atoi(argv[2]); i++)
			MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	} else if (strcmp(mode, "late") != 0) {
		for (int i = 1;; i++) {
			int mine = asked, all;
			MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
			if (rank == 0)
				say("iteration", i);
			if (all)
				break;
			usleep(20000);
		}
	}
	MPI_Finalize();
	if (strcmp(mode, "late") == 0) {
		if (rank == 0)
			say("late", 0);
		wait_without_end();
	}
	return 0;
}
