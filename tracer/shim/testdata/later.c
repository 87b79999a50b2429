// A library that is loaded long after MPI_Init.
#include <mpi.h>

#line 50
__attribute__((noinline)) static void inside(int tag)
{
	MPI_Send(0, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD); // line 52
	__asm__ volatile("");
}

void from_plugin(int tag)
{
	inside(tag); // line 58
	__asm__ volatile("");
}
