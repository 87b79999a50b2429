// SPDX-License-Identifier: Apache-2.0
// A tool that defines functions of MPI. It prints how often it was called, and how often it called
// MPI for itself: MPI_Comm_size with each MPI_Allreduce.
//
//	NAME     its name
//	NEXT     "PMPI_" or "MPI_": calls the next definition of this form with dlsym; otherwise PMPI_X by name
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long calls, own_calls;

#ifdef NEXT
#define REAL(name) \
	static __typeof__(&P##MPI_##name) real; \
	if (real == NULL) \
		real = (__typeof__(real))dlsym(RTLD_NEXT, NEXT #name);
#else
#define REAL(name) __typeof__(&PMPI_##name) real = PMPI_##name;
#endif

#define WRAP(name, parameters, arguments) \
	int MPI_##name parameters \
	{ \
		REAL(name) \
		calls++; \
		int result = real arguments; \
		__asm__ volatile(""); /* no tail call */ \
		return result; \
	}

WRAP(Init, (int *c, char ***v), (c, v))
WRAP(Init_thread, (int *c, char ***v, int r, int *p), (c, v, r, p))
WRAP(Comm_rank, (MPI_Comm c, int *r), (c, r))
WRAP(Send, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c), (b, n, t, d, g, c))
WRAP(Recv, (void *b, int n, MPI_Datatype t, int s, int g, MPI_Comm c, MPI_Status *a), (b, n, t, s, g, c, a))
WRAP(Sendrecv, (const void *b, int n, MPI_Datatype t, int d, int g, void *rb, int rn, MPI_Datatype rt, int s, int rg, MPI_Comm c, MPI_Status *a),
	(b, n, t, d, g, rb, rn, rt, s, rg, c, a))
WRAP(Isend, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r), (b, n, t, d, g, c, r))
WRAP(Irecv, (void *b, int n, MPI_Datatype t, int s, int g, MPI_Comm c, MPI_Request *r), (b, n, t, s, g, c, r))
WRAP(Waitall, (int n, MPI_Request *r, MPI_Status *a), (n, r, a))
WRAP(Comm_dup, (MPI_Comm c, MPI_Comm *n), (c, n))
WRAP(Comm_get_attr, (MPI_Comm c, int k, void *v, int *f), (c, k, v, f))
WRAP(Type_size, (MPI_Datatype t, int *s), (t, s))
WRAP(Barrier, (MPI_Comm c), (c))

int MPI_Allreduce(const void *b, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
	REAL(Allreduce)
	int size, result = real(b, r, n, t, o, c);
	calls++;
	PMPI_Comm_size(c, &size);
	own_calls++;
	return result;
}

int MPI_Finalize(void)
{
	REAL(Finalize)
	int rank;
	calls++;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("tool %s rank=%d calls=%lu own=%lu\n", NAME, rank, calls, own_calls);
	fflush(stdout);
	return real();
}
