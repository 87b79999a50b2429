// SPDX-License-Identifier: Apache-2.0
// A library that programs call instead of MPI.
#define OMPI_SKIP_MPICXX 1 /* its constructors call MPI */
#include <mpi.h>

#include <cstdio>

#define STAY asm volatile("") /* no tail call */

extern "C" void library_barrier(void)
{
	MPI_Barrier(MPI_COMM_SELF);
	STAY;
}

static __attribute__((noinline)) void inner(void)
{
	int v = 1, w;
	MPI_Alltoall(&v, 1, MPI_INT, &w, 1, MPI_INT, MPI_COMM_SELF);
	STAY;
}

// The places that differ are in the library.
extern "C" void library_twice(FILE *lines)
{
	fprintf(lines, "library.cc:%d\n", __LINE__), inner();
	STAY;
	fprintf(lines, "library.cc:%d\n", __LINE__), inner();
	STAY;
}
