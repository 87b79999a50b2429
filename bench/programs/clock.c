// What a program with its own timers does: it brackets parts of each step with MPI_Wtime, as miniAMR does. Arguments:
// steps.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMERS 8

static double work(double x, int n) {
    for (int i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    return x;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double spent[TIMERS] = {0}, x = 1, sum = 0, out = rank, in = 0;
    for (int s = 0; s < steps; s++) {
        for (int t = 0; t < TIMERS; t++) {
            double begin = MPI_Wtime();
            x = work(x, 2000 + 500 * t + (s * 7919 + t * 104729) % 997);
            spent[t] += MPI_Wtime() - begin;
        }
        double begin = MPI_Wtime();
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 1, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (s % 10 == 9)
            MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        spent[0] += MPI_Wtime() - begin;
    }
    double total = 0;
    for (int t = 0; t < TIMERS; t++)
        total += spent[t];
    if (total < 0 || x + sum + in < 0)
        printf("%f\n", total + x + sum);
    MPI_Finalize();
    return 0;
}
