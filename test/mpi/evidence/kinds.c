// Computations of some milliseconds, each kind between two calls of its own: what the operating system says of them is known.
//
//	kinds ITERATIONS FOLDER
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000000, WRITTEN = 1 << 20 };

static double cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static volatile double sink;

// burn takes so much CPU time, whoever else wants the CPU.
static void burn(double ns)
{
	const double until = cpu_ns() + ns;
	while (cpu_ns() < until)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

static void *burner(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "burner");
	burn(5 * MS);
	return NULL;
}

int main(int argc, char **argv)
{
	const int n = atoi(argv[1]);
	static char data[WRITTEN];
	char path[4096];
	int rank, size, flag;
	cpu_set_t mine, before;

	MPI_Init(&argc, &argv);
	snprintf(path, sizeof(path), "%s/written", argv[2]);
	const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	// One kind after the other: in turns, each place would have a fifth of the few readings.
	for (int i = 0; i < 4 * n; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		burn(5 * MS);
	}
	for (int i = 0; i < 4 * n; i++) {
		MPI_Comm_size(MPI_COMM_WORLD, &size);
		usleep(5000);
	}
	for (int i = 0; i < 4 * n; i++) {
		MPI_Initialized(&flag);
		if (pwrite(file, data, sizeof(data), 0) != sizeof(data) || fsync(file) != 0)
			return 1;
		usleep(3000); // where the disk is quick
	}
	for (int i = 0; i < 4 * n; i++) {
		MPI_Finalized(&flag);
		pthread_t thread;
		pthread_create(&thread, NULL, burner, NULL);
		pthread_join(thread, NULL);
	}
	(void)MPI_Wtime();
	// A hog on the only CPU that this process may use.
	sched_getaffinity(0, sizeof(before), &before);
	CPU_ZERO(&mine);
	CPU_SET(sched_getcpu(), &mine);
	sched_setaffinity(0, sizeof(mine), &mine);
	const pid_t hog = fork();
	if (hog == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			sink += 1;
	}
	for (int i = 0; i < n; i++) {
		MPI_Is_thread_main(&flag);
		burn(20 * MS);
		MPI_Query_thread(&flag);
	}
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
	MPI_Finalize();
	return 0;
}
