// A loop whose iterations end in a collective: the argument says which one, and on which communicator.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;
static long iterations = 1200;

static void exchange(int i)
{
	int mine = i, theirs = -1;
	usleep(500);
	MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % ranks, 0, &theirs, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	if (theirs != i)
		MPI_Abort(MPI_COMM_WORLD, 4);
}

static void sum_on(MPI_Comm comm, int expected)
{
	int one = 1, sum = 0;
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	if (sum != expected)
		MPI_Abort(MPI_COMM_WORLD, 5);
}

static MPI_Comm duplicate(MPI_Comm of, int free_it)
{
	MPI_Comm made;
	MPI_Comm_dup(of, &made);
	if (free_it)
		MPI_Comm_free(&of);
	return made;
}

static MPI_Comm split(int color, int key)
{
	MPI_Comm made;
	MPI_Comm_split(MPI_COMM_WORLD, color, key, &made);
	return made;
}

static MPI_Comm grid(void)
{
	int dims[1] = {ranks}, periodic[1] = {1};
	MPI_Comm made;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 1, &made);
	return made;
}

// The lower and the upper half.
static MPI_Comm halves(void)
{
	MPI_Comm local = split(rank < ranks / 2, rank), made;
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank < ranks / 2 ? ranks / 2 : 0, 3, &made);
	MPI_Comm_free(&local);
	return made;
}

// Duplicates come and go, and in between a communicator of half of the ranks, which may have the same handle: the halves
// make different numbers of collectives on it.
static void communicators_that_come_and_go(void)
{
	for (int i = 0; i < iterations; i++) {
		MPI_Comm all = duplicate(MPI_COMM_WORLD, 0);
		exchange(i);
		sum_on(all, ranks);
		MPI_Comm_free(&all);
		MPI_Comm half = split(rank % 2, rank);
		for (int k = 0; k <= rank % 2; k++)
			sum_on(half, (ranks + 1 - rank % 2) / 2);
		MPI_Comm_free(&half);
	}
}

// The time loop works on one duplicate, then on another one, and then on MPI_COMM_WORLD.
static void one_after_the_other(void)
{
	for (int part = 0; part < 3; part++) {
		MPI_Comm on = part < 2 ? duplicate(MPI_COMM_WORLD, 0) : MPI_COMM_WORLD;
		for (int i = 0; i < iterations; i++) {
			exchange(i);
			sum_on(on, ranks);
		}
		if (part < 2)
			MPI_Comm_free(&on);
	}
}

static void neighbors(void)
{
	MPI_Comm on = grid();
	for (int i = 0; i < iterations; i++) {
		int mine = i, theirs[2];
		usleep(500);
		MPI_Neighbor_allgather(&mine, 1, MPI_INT, theirs, 1, MPI_INT, on);
	}
	MPI_Comm_free(&on);
}

static void fences(void)
{
	int *memory;
	MPI_Win win;
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	for (int i = 0; i < iterations; i++) {
		usleep(500);
		MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
		MPI_Put(&i, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, win);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	}
	MPI_Win_free(&win);
}

static void nonblocking(void)
{
	MPI_Comm on = duplicate(MPI_COMM_WORLD, 0);
	for (int i = 0; i < iterations; i++) {
		MPI_Request request;
		int one = 1, sum;
		exchange(i);
		MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, on, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&on);
}

// Ranks may complete these in different orders, and rank 1 starts its part only when rank 0 has completed one: nobody may
// wait for others at the completion of a nonblocking collective.
static void completed_in_any_order(void)
{
	MPI_Comm a = duplicate(MPI_COMM_WORLD, 0), b = duplicate(MPI_COMM_WORLD, 0);
	for (int i = 0; i < iterations; i++) {
		MPI_Request request[2];
		int x = 1, y = 2, go = 0;
		MPI_Ibcast(&x, 1, MPI_INT, 0, rank % 2 == 0 ? a : b, &request[0]);
		MPI_Ibcast(&y, 1, MPI_INT, 0, rank % 2 == 0 ? b : a, &request[1]);
		if (rank == 1)
			MPI_Recv(&go, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&request[rank % 2], MPI_STATUS_IGNORE);
		if (rank == 0)
			MPI_Send(&go, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
		MPI_Wait(&request[1 - rank % 2], MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
}

// Two threads have a communicator each; which thread comes first is not the same on all ranks, and the second one on rank 0
// broadcasts far ahead, while the last rank takes that when the first thread is through.
static MPI_Comm ahead;

static void *far_ahead(void *unused)
{
	for (int i = 0; i < iterations; i++)
		MPI_Bcast(&(int){i}, 1, MPI_INT, 0, ahead);
	return unused;
}

static void two_threads(void)
{
	MPI_Comm on = duplicate(MPI_COMM_WORLD, 0);
	pthread_t thread;
	ahead = duplicate(MPI_COMM_WORLD, 0);
	if (rank != ranks - 1)
		pthread_create(&thread, NULL, far_ahead, NULL);
	for (int i = 0; i < iterations; i++)
		sum_on(on, ranks);
	if (rank != ranks - 1)
		pthread_join(thread, NULL);
	else
		far_ahead(NULL);
	MPI_Comm_free(&ahead);
	MPI_Comm_free(&on);
}

static void on(MPI_Comm comm, int expected)
{
	for (int i = 0; i < iterations; i++) {
		exchange(i);
		sum_on(comm, expected);
	}
	MPI_Comm_free(&comm);
}

// From one iteration on each ends in an explicit marker, too. With out_of_order rank 0 has its first one before the
// collective of that iteration, the others after it.
static void explicit_from(int first, int out_of_order)
{
	for (int i = 1; i <= iterations; i++) {
		const int early = out_of_order && rank == 0 && i >= first;
		exchange(i);
		if (early)
			MPI_Pcontrol(100);
		sum_on(MPI_COMM_WORLD, ranks);
		if (i >= first && !early)
			MPI_Pcontrol(100);
	}
}

int main(int argc, char **argv)
{
	const char *what = argv[1];
	int level;

	MPI_Init_thread(&argc, &argv, strncmp(what, "threads", 7) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (strcmp(what, "dup") == 0 || strcmp(what, "threads-dup") == 0)
		on(duplicate(MPI_COMM_WORLD, 0), ranks);
	else if (strcmp(what, "dup-of-dup") == 0)
		on(duplicate(duplicate(MPI_COMM_WORLD, 0), 1), ranks);
	else if (strcmp(what, "split") == 0)
		on(split(7, rank), ranks);
	else if (strcmp(what, "reversed") == 0)
		on(split(7, -rank), ranks);
	else if (strcmp(what, "cart") == 0)
		on(grid(), ranks);
	else if (strcmp(what, "inter") == 0)
		on(halves(), rank < ranks / 2 ? ranks - ranks / 2 : ranks / 2);
	else if (strcmp(what, "half") == 0)
		on(split(rank % 2, rank), (ranks + 1 - rank % 2) / 2);
	else if (strcmp(what, "come-and-go") == 0)
		communicators_that_come_and_go();
	else if (strcmp(what, "one-after-the-other") == 0)
		one_after_the_other();
	else if (strcmp(what, "neighbors") == 0)
		neighbors();
	else if (strcmp(what, "fences") == 0)
		fences();
	else if (strcmp(what, "nonblocking") == 0)
		nonblocking();
	else if (strcmp(what, "any-order") == 0)
		completed_in_any_order();
	else if (strncmp(what, "explicit-from-", 14) == 0)
		explicit_from(atoi(what + 14), 0);
	else if (strcmp(what, "explicit-out-of-order") == 0)
		explicit_from(2, 1);
	else if (strcmp(what, "threads") == 0)
		two_threads();
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Finalize();
	return 0;
}
