// SPDX-License-Identifier: Apache-2.0
// Two ranks; communicators and groups, ids that are given again.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, one = 1, there, result, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm copy, half, inter;
    MPI_Group all, part;
    MPI_Request request;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "the copy");
    MPI_Comm_get_name(copy, name, &length);
    MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
    MPI_Comm_split(copy, rank, 7, &half);
    MPI_Intercomm_create(half, 0, copy, 1 - rank, 4, &inter);
    MPI_Comm_remote_size(inter, &result);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_split(copy, rank == 0 ? 0 : MPI_UNDEFINED, 0, &half);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &one, &part);
    MPI_Group_translate_ranks(all, 1, &one, part, &there);
    MPI_Group_free(&all);
    MPI_Group_union(part, MPI_GROUP_EMPTY, &all);
    MPI_Comm_free(&copy);
    MPI_Comm_idup(MPI_COMM_SELF, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
