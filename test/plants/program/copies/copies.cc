// copies.c with two instances of a template.
#include <mpi.h>
#include <cstdlib>
#include <unistd.h>

namespace solver {
struct Odd {};
struct Others {};

template <class Which> __attribute__((noinline)) void steps(int us) {
  double x = 1, y;
  for (int i = 0; i < 40; i++) {
    usleep(us);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}
} // namespace solver

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, odd = std::atoi(argv[1]);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == odd)
    solver::steps<solver::Odd>(std::atoi(argv[2]));
  else
    solver::steps<solver::Others>(std::atoi(argv[3]));
  MPI_Finalize();
  return argc != 4;
}
