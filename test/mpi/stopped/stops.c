// Jobs that do not come to their end, each in the way that its argument says. Lines that are named
// in stopped_test.go have a comment with the name.
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

// compute keeps the CPU for so many milliseconds.
static void compute(int milliseconds)
{
	struct timespec now, begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < milliseconds * 1000000L);
}

// step is one iteration of a program in which all is well.
static void step(int milliseconds)
{
	int mine = rank, sum;

	compute(milliseconds);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void steps(int n, int milliseconds)
{
	for (int i = 0; i < n; i++)
		step(milliseconds); // steps
}

static int testall(MPI_Request *request, int *flag, MPI_Status *status)
{
	return MPI_Testall(1, request, flag, status);
}

static int iprobe(MPI_Request *request, int *flag, MPI_Status *status)
{
	(void)request;
	return MPI_Iprobe(1, 7, MPI_COMM_WORLD, flag, status);
}

// await_by lets rank 0 test for a message that never comes: rank 1 has sent it with another tag.
static void await_by(int test(MPI_Request *, int *, MPI_Status *))
{
	int value = 0, flag = 0;
	MPI_Request request;
	MPI_Status status;

	if (rank == 0) {
		if (test != iprobe)
			MPI_Irecv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
		while (!flag) {
			test(&request, &flag, &status); // test
			usleep(100);
		}
	}
	if (rank == 1)
		MPI_Send(&value, 1, MPI_INT, 0, 8, MPI_COMM_WORLD); // stray
	MPI_Barrier(MPI_COMM_WORLD); // others
}

static void *abort_job(void *unused)
{
	MPI_Abort(MPI_COMM_WORLD, 5); // aborting thread
	return unused;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int value = 0, other, threads;

	if (strcmp(how, "aborting thread") == 0)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	steps(20, 10);
	if (rank == 0) {
		printf("begins\n");
		fflush(stdout);
	}
	if (strcmp(how, "deadlock") == 0) { // two neighbors, each receives before it sends
		other = rank ^ 1;
		if (rank < 2) {
			MPI_Recv(&value, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // deadlock
			MPI_Send(&value, 1, MPI_INT, other, 7, MPI_COMM_WORLD);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(how, "ring") == 0) { // all wait for their left neighbor, with requests
		MPI_Request requests[1];
		MPI_Status statuses[1];
		MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[0]);
		MPI_Waitall(1, requests, statuses); // ring
		MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
	} else if (strcmp(how, "early") == 0) { // rank 2 makes one iteration less
		steps(rank == 2 ? 5 : 6, 10); // iterations
		MPI_Barrier(MPI_COMM_WORLD); // early
		MPI_Finalize();
		return 0;
	} else if (strcmp(how, "missing") == 0) { // rank 1 goes on computing for ever
		if (rank == 1)
			for (;;)
				compute(1000);
		step(10); // missing
	} else if (strcmp(how, "root") == 0) { // rank 1 takes itself for the root
		static double many[1 << 18];
		MPI_Bcast(many, 1 << 18, MPI_DOUBLE, rank == 1 ? 1 : 0, MPI_COMM_WORLD); // root
		step(10);
	} else if (strcmp(how, "reduce") == 0) { // rank 1 reduces while the others get something from rank 0
		if (rank == 1)
			MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // reduce
		else
			MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD); // broadcast
		MPI_Barrier(MPI_COMM_WORLD);
	} else if (strcmp(how, "test") == 0) { // rank 0 tests for a message that has another tag
		await_by(MPI_Test);
	} else if (strcmp(how, "testall") == 0) {
		await_by(testall);
	} else if (strcmp(how, "iprobe") == 0) {
		await_by(iprobe);
	} else if (strcmp(how, "lock") == 0) { // rank 1 keeps the lock that the others need
		MPI_Win window;
		static int memory;
		MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
		if (rank == 1) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
			MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
			MPI_Win_flush(0, window);
		}
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank > 1) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window); // lock
			MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
			MPI_Win_unlock(0, window); // unlock
		}
		MPI_Barrier(MPI_COMM_WORLD); // kept
	} else if (strcmp(how, "accept") == 0) { // nobody connects
		char port[MPI_MAX_PORT_NAME];
		MPI_Comm other;
		if (rank == 0) {
			MPI_Open_port(MPI_INFO_NULL, port);
			MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other); // accept
		}
		MPI_Barrier(MPI_COMM_WORLD); // accepted
	} else if (strcmp(how, "two tags") == 0) { // each half passes its own
		MPI_Comm half, both;
		MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
		MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 2 - rank / 2 * 2, 5 + rank / 2, &both); // two tags
	} else if (strcmp(how, "poll") == 0) { // all is well: rank 0 tests for what the others compute for long
		for (int i = 0; i < 6000; i++) {
			if (rank == 0) {
				for (int from = 1; from < size; from++) {
					int flag = 0;
					MPI_Request request;
					MPI_Irecv(&value, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &request);
					while (!flag)
						MPI_Test(&request, &flag, MPI_STATUS_IGNORE); // poll
				}
			} else {
				compute(900);
				MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD); // sent
			}
		}
	} else if (strcmp(how, "segv") == 0) {
		steps(10, 10); // segv
		if (rank == 1) {
			compute(200);
			*(volatile int *)0 = 1;
		}
		step(10);
	} else if (strcmp(how, "kill") == 0) {
		steps(10, 10);
		if (rank == 1) {
			compute(300);
			kill(getpid(), SIGKILL);
		}
		sleep(2);
		step(10);
	} else if (strcmp(how, "pod") == 0) { // ranks 2 and 3 are gone at once
		steps(10, 10);
		if (rank >= 2)
			kill(getpid(), SIGKILL);
		MPI_Barrier(MPI_COMM_WORLD); // pod
	} else if (strcmp(how, "exit") == 0) {
		steps(10, 10); // exit
		if (rank == 1)
			exit(3);
		step(10);
	} else if (strcmp(how, "abort") == 0) {
		steps(10, 10);
		if (rank == 1)
			MPI_Abort(MPI_COMM_WORLD, 7); // abort
		step(10);
	} else if (strcmp(how, "killed") == 0) {
		steps(10, 10);
		if (rank == 1) {
			compute(300); // until the others wait
			kill(getpid(), SIGKILL);
		}
		step(10);
	} else if (strcmp(how, "assert") == 0) {
		steps(10, 10);
		assert(rank != 1);
		step(10);
	} else if (strcmp(how, "_exit") == 0) {
		steps(10, 10);
		if (rank == 1)
			_exit(3);
		step(10);
	} else if (strncmp(how, "truncated", 9) == 0) { // rank 0 sends more than rank 1 has room for
		static int many[100];
		MPI_Request request;
		steps(10, 10);
		if (rank == 0)
			MPI_Send(many, 100, MPI_INT, 1, 9, MPI_COMM_WORLD);
		if (rank == 1 && strcmp(how, "truncated") == 0)
			MPI_Recv(many, 10, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // truncated
		else if (rank == 1) {
			MPI_Irecv(many, 10, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE); // truncated wait
		}
		step(10);
	} else if (strcmp(how, "no rank") == 0) {
		steps(10, 10);
		if (rank == 1)
			MPI_Send(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD); // no rank
		step(10);
	} else if (strcmp(how, "no tag") == 0) {
		steps(10, 10);
		if (rank == 1)
			MPI_Send(&value, 1, MPI_INT, 0, -17, MPI_COMM_WORLD); // no tag
		step(10);
	} else if (strcmp(how, "no root") == 0) { // rank 2 has another root than the others, which is no rank
		steps(10, 10);
		MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, rank == 2 ? -5 : 0, MPI_COMM_WORLD); // no root
		step(10);
	} else if (strcmp(how, "no operation") == 0) { // on all ranks at once
		double real = 1, sum;
		steps(10, 10);
		MPI_Allreduce(&real, &sum, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD); // no operation
	} else if (strcmp(how, "exec") == 0) {
		steps(10, 10);
		if (rank == 1)
			execlp("sleep", "sleep", "1", (char *)NULL);
		step(10);
	} else if (strcmp(how, "all killed") == 0) {
		steps(10, 10);
		MPI_Barrier(MPI_COMM_WORLD);
		kill(getpid(), SIGKILL);
	} else if (strcmp(how, "aborting thread") == 0) {
		pthread_t thread;
		steps(10, 10);
		if (rank == 1) {
			pthread_create(&thread, NULL, abort_job, NULL);
			pthread_join(thread, NULL);
		}
		step(10);
	} else if (strcmp(how, "run") == 0) { // all is well, and it goes on
		steps(6000, 10);
	}
	MPI_Finalize();
	if (strcmp(how, "late call") == 0 && rank == 1)
		MPI_Barrier(MPI_COMM_WORLD); // late call
	return 0;
}
