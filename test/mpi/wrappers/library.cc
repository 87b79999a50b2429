// SPDX-License-Identifier: Apache-2.0
// A library that programs call instead of MPI.
#define OMPI_SKIP_MPICXX 1 /* its constructors call MPI */
#include <mpi.h>

static int inner(void)
{
	int e = MPI_Barrier(MPI_COMM_SELF);
	asm volatile("");
	return e;
}

extern "C" void library_barrier(void)
{
	inner();
	asm volatile("");
}

extern "C" void library_twice(void)
{
	inner();
	asm volatile("");
	inner();
	asm volatile("");
}
