/*
 * The baselines of make bench-tracer: a library that wraps the calls of calls.c and cold.c and does nothing, or (STAMPS) reads the
 * clock before and after each call and keeps both.
 */
#include <mpi.h>
#include <stdint.h>
#include <x86intrin.h>

#ifdef STAMPS
static __thread uint64_t kept[4096];
static __thread unsigned at;
#define BEFORE const uint64_t enter = __rdtsc()
#define AFTER kept[at & 4095] = enter, kept[(at + 1) & 4095] = __rdtsc(), at += 2
#else
#define BEFORE
#define AFTER
#endif
#define WRAP(name, declared, passed) \
	int MPI_##name declared \
	{ \
		BEFORE; \
		const int result = PMPI_##name passed; \
		AFTER; \
		return result; \
	}

WRAP(Comm_rank, (MPI_Comm c, int *r), (c, r))
WRAP(Type_size, (MPI_Datatype d, int *n), (d, n))
WRAP(Iprobe, (int s, int t, MPI_Comm c, int *f, MPI_Status *st), (s, t, c, f, st))
WRAP(Isend, (const void *b, int n, MPI_Datatype d, int to, int t, MPI_Comm c, MPI_Request *r), (b, n, d, to, t, c, r))
WRAP(Irecv, (void *b, int n, MPI_Datatype d, int from, int t, MPI_Comm c, MPI_Request *r), (b, n, d, from, t, c, r))
WRAP(Wait, (MPI_Request *r, MPI_Status *st), (r, st))
WRAP(Waitall, (int n, MPI_Request r[], MPI_Status st[]), (n, r, st))
WRAP(Waitany, (int n, MPI_Request r[], int *i, MPI_Status *st), (n, r, i, st))
WRAP(Allreduce, (const void *a, void *b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c), (a, b, n, d, o, c))
