// SPDX-License-Identifier: Apache-2.0
// Communicators: made in every way without further processes, asked, named, given up. Two ranks.
#include "family.h"

static void asked(void)
{
    MPI_Comm comm;
    MPI_Info info, got;
    int result, length, n;
    char name[MPI_MAX_OBJECT_NAME];

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_set_name(comm, "a copy");
    MPI_Comm_get_name(comm, name, &length);
    CHECK(strcmp(name, "a copy") == 0 && length == 6);
    MPI_Comm_test_inter(comm, &result);
    CHECK(!result);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(comm, info);
    MPI_Comm_get_info(comm, &got);
    MPI_Info_get_nkeys(got, &n);
    MPI_Info_free(&got);
    MPI_Comm_free(&comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Info_free(&info);
}

static void copies_in_the_background(void)
{
    MPI_Comm comm;
    MPI_Request request;

    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
#if MPI_VERSION >= 4
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
#endif
}

static void parts(void)
{
    MPI_Comm comm;
    MPI_Group all, one;
    int size, zero = 0;

    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Comm_rank(comm, &size);
    CHECK(size == ranks - 1 - rank);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_size(comm, &size);
    CHECK(size == ranks);
    MPI_Comm_free(&comm);

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &zero, &one);
    MPI_Comm_create(MPI_COMM_WORLD, one, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0));
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    if (rank == 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, one, 5, &comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
}

static void between_groups(void)
{
    MPI_Comm mine, inter, merged;
    MPI_Group group;
    int size, sum, flag, one = 1;

    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - rank, 11, &inter);
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag);
    MPI_Comm_remote_size(inter, &size);
    CHECK(size == 1);
    MPI_Comm_remote_group(inter, &group);
    MPI_Group_size(group, &size);
    CHECK(size == 1);
    MPI_Group_free(&group);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == 1);
    MPI_Bcast(&one, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, inter);
    MPI_Intercomm_merge(inter, rank == 1, &merged);
    MPI_Comm_size(merged, &size);
    CHECK(size == 2);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&mine);
}

int main(void)
{
    begin();
    asked();
    copies_in_the_background();
    parts();
    between_groups();
    return end();
}
