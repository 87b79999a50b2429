// SPDX-License-Identifier: Apache-2.0
// A library below Python that is no extension module, as HDF5 and PETSc are.
#include <mpi.h>

static void inner(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	__asm__ volatile("");
}

void outer(void)
{
	inner();
	__asm__ volatile("");
}
