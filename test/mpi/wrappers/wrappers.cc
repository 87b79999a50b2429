// SPDX-License-Identifier: Apache-2.0
// Wrappers of all forms. Each rank writes the line of each call, in order, to a file in the folder that is its argument.
#define OMPI_SKIP_MPICXX 1 /* its constructors call MPI */
#include <mpi.h>

#include <cstdio>

#define NOINLINE __attribute__((noinline))
#define HERE (fprintf(lines, "wrappers.cc:%d\n", __LINE__))
#define STAY asm volatile("") /* no tail call */

static FILE *lines;

extern "C" void library_barrier(void);
extern "C" void library_twice(FILE *lines);

// A static function.
static NOINLINE void timed_barrier(MPI_Comm comm)
{
	double t = MPI_Wtime();
	MPI_Barrier(comm);
	if (MPI_Wtime() < t) puts("");
}

// A class, and one more below it.
namespace mpi {
class Timer {
public:
	explicit Timer(MPI_Comm c) : comm(c) {}
	virtual ~Timer() {}
	virtual NOINLINE void reduce(int *v) { MPI_Allreduce(MPI_IN_PLACE, v, 1, MPI_INT, MPI_SUM, comm); STAY; }
	template <typename T> NOINLINE void broadcast(T *v) { MPI_Bcast(v, sizeof(T), MPI_BYTE, 0, comm); STAY; }
protected:
	MPI_Comm comm;
};
}

// Two layers.
static NOINLINE void lower(void *v) { int w; MPI_Gather(v, 1, MPI_INT, &w, 1, MPI_INT, 0, MPI_COMM_SELF); STAY; }
static NOINLINE void upper(void *v) { lower(v); STAY; }

// Inlined.
static inline __attribute__((always_inline)) void inlined(int *v) { int w; MPI_Scan(v, &w, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); STAY; }

// A tail call, if it is optimized.
static NOINLINE int tail(int *v) { return MPI_Exscan(MPI_IN_PLACE, v, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); }

// A recursion: the call at its end is where MPI is called.
static NOINLINE void recursion(int depth, int *v)
{
	if (depth > 0)
		recursion(depth - 1, v);
	else
		MPI_Reduce(MPI_IN_PLACE, v, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_SELF);
	STAY;
}

// No wrapper: two calls of the same function, which are the call sites.
static NOINLINE void exchange(int *v)
{
	HERE; MPI_Sendrecv_replace(v, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	HERE; MPI_Sendrecv_replace(v, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

// No wrapper: one of many places that call the function.
static NOINLINE void one_of_many(int *v) { int w; HERE; MPI_Allgather(v, 1, MPI_INT, &w, 1, MPI_INT, MPI_COMM_SELF); STAY; }

static NOINLINE void compute(mpi::Timer &timer, int *v)
{
	double d = 0;
	HERE; timed_barrier(MPI_COMM_WORLD);
	HERE; timer.reduce(v);
	HERE; timer.broadcast(v);
	HERE; timer.broadcast(&d);
	HERE; upper(v);
	HERE; inlined(v);
	HERE; tail(v);
	HERE; library_barrier();
	exchange(v);
	one_of_many(v);
	int w;
	HERE; MPI_Allgather(v, 1, MPI_INT, &w, 1, MPI_INT, MPI_COMM_SELF);
	HERE; MPI_Allgather(v, 1, MPI_INT, &w, 1, MPI_INT, MPI_COMM_SELF);
	STAY;
}

static NOINLINE void io(mpi::Timer &timer, int *v)
{
	HERE; timed_barrier(MPI_COMM_WORLD);
	HERE; timer.reduce(v);
	HERE; timer.broadcast(v);
	HERE; upper(v);
	HERE; inlined(v);
	HERE; tail(v);
	HERE; library_barrier();
	library_twice(lines);
	exchange(v);
	one_of_many(v);
	STAY;
}

int main(int argc, char **argv)
{
	int rank, v[2] = {1, 2};
	char name[4096];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "%s/%d", argv[argc - 1], rank);
	lines = fopen(name, "w");
	{
		mpi::Timer timer(MPI_COMM_WORLD);
		for (int i = 0; i < 3; i++) {
			compute(timer, v);
			if (rank % 2 == 0) /* ranks differ */
				HERE, upper(v);
			for (int depth = 0; depth < 40; depth += 13)
				recursion(depth, v);
			io(timer, v);
		}
	}
	fclose(lines);
	MPI_Finalize();
	return 0;
}
