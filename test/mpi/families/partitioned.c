// SPDX-License-Identifier: Apache-2.0
// Partitioned communication (MPI 4.0). Two ranks.
#include "family.h"

#if MPI_VERSION >= 4
enum { PARTITIONS = 4, EACH = 2 };

int main(void)
{
    int data[PARTITIONS * EACH] = {0}, some[] = {3}, flag;
    MPI_Request request;
    MPI_Status status;

    begin();
    if (rank == 0)
        MPI_Psend_init(data, PARTITIONS, EACH, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, PARTITIONS, EACH, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 1; round <= 2; round++) {
        MPI_Start(&request);
        if (rank == 0) {
            for (int i = 0; i < PARTITIONS * EACH; i++)
                data[i] = round * i;
            MPI_Pready(0, request);
            MPI_Pready_range(1, 2, request);
            MPI_Pready_list(1, some, request);
        } else {
            for (flag = 0; !flag;)
                MPI_Parrived(request, 2, &flag);
        }
        MPI_Wait(&request, &status);
        CHECK(data[7] == 7 * round);
    }
    MPI_Request_free(&request);
    return end();
}
#else
int main(void)
{
    begin();
    return end();
}
#endif
