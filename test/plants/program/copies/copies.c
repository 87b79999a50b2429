/* One loop of the source that the compiler makes several copies of (INLINED, UNROLLED), or that is
 * in several binaries. ODD is the rank that executes another copy than the others; it sleeps
 * ODD_US microseconds in each iteration, the others US.
 *
 *   copies ODD ODD_US US */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef CLOCKS
#define CLOCKS us
#endif
#ifdef INLINED
#define COPY static inline __attribute__((always_inline))
#else
#define COPY static __attribute__((noinline))
#endif

COPY void steps(int us) {
  double x = 1, y;
#ifdef UNROLLED
#pragma GCC unroll 4
#endif
  for (int i = 0; i < 40; i++) {
    usleep(us);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (us != CLOCKS) MPI_Wtime(); /* not all ranks read clocks */
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, odd = atoi(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == odd)
    steps(atoi(argv[2]));
  else
    steps(atoi(argv[3]));
  MPI_Finalize();
  return argc != 4;
}
