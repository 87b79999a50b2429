// SPDX-License-Identifier: Apache-2.0
// Communicators of the rows and columns of a square of ranks, with collectives and a shift in each, ITERATIONS times.
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int side = (int)lround(sqrt(size));
    MPI_Comm comms[2];
    MPI_Comm_split(MPI_COMM_WORLD, rank / side, rank, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % side, rank, &comms[1]);
    for (int i = 0, n = atoi(argv[1]); i < n; i++)
        for (int k = 0; k < 2; k++) {
            int own, many, x = rank, y;
            MPI_Comm_rank(comms[k], &own);
            MPI_Comm_size(comms[k], &many);
            MPI_Bcast(&x, 1, MPI_INT, i % many, comms[k]);
            MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comms[k]);
            MPI_Sendrecv(&x, 1, MPI_INT, (own + 1) % many, k, &y, 1, MPI_INT, (own + many - 1) % many, k, comms[k],
                         MPI_STATUS_IGNORE);
        }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
    MPI_Finalize();
}
