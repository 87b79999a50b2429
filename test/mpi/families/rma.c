// SPDX-License-Identifier: Apache-2.0
// One-sided communication: windows of all four kinds, all three ways to synchronize, operations with and without
// requests, the large-count forms. Two ranks, which address each other.
#include "family.h"

enum { N = 8 };

static int there, local[N], other[N];

static void requested(MPI_Win win)
{
    MPI_Request requests[4];

    MPI_Win_lock_all(0, win);
    MPI_Rput(local, 1, MPI_INT, there, 0, 1, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Win_flush(there, win);
    MPI_Rget(other, 1, MPI_INT, there, 0, 1, MPI_INT, win, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    CHECK(other[0] == local[0]);
    MPI_Raccumulate(local, 1, MPI_INT, there, 1, 1, MPI_INT, MPI_SUM, win, &requests[2]);
    MPI_Rget_accumulate(local, 1, MPI_INT, other, 1, MPI_INT, there, 2, 1, MPI_INT, MPI_SUM, win, &requests[3]);
    MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE);
    MPI_Win_flush_all(win);
    MPI_Win_flush_local(there, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_sync(win);
#if MPI_VERSION >= 4
    MPI_Rput_c(local, 1, MPI_INT, there, 0, 1, MPI_INT, win, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Rget_c(other, 1, MPI_INT, there, 0, 1, MPI_INT, win, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Raccumulate_c(local, 1, MPI_INT, there, 1, 1, MPI_INT, MPI_SUM, win, &requests[2]);
    MPI_Rget_accumulate_c(local, 1, MPI_INT, other, 1, MPI_INT, there, 2, 1, MPI_INT, MPI_SUM, win, &requests[3]);
    MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE);
#endif
    MPI_Win_unlock_all(win);
}

static void fenced(MPI_Win win)
{
    int one = 1, zero = 0, got;

    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(local, 2, MPI_INT, there, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Get(other, 2, MPI_INT, there, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(other[1] == local[1]);
    MPI_Accumulate(local, 1, MPI_INT, there, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(local, 1, MPI_INT, other, 1, MPI_INT, there, 4, 1, MPI_INT, MPI_NO_OP, win);
    MPI_Fetch_and_op(&one, &got, MPI_INT, there, 5, MPI_SUM, win);
    MPI_Compare_and_swap(&one, &zero, &got, MPI_INT, there, 6, win);
    MPI_Win_fence(0, win);
#if MPI_VERSION >= 4
    MPI_Put_c(local, 2, MPI_INT, there, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Get_c(other, 2, MPI_INT, there, 0, 2, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate_c(local, 1, MPI_INT, there, 3, 1, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate_c(local, 1, MPI_INT, other, 1, MPI_INT, there, 4, 1, MPI_INT, MPI_NO_OP, win);
#endif
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
}

static void posted(MPI_Win win)
{
    MPI_Group all, group;
    int flag;

    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &there, &group);
    if (rank == 0) {
        MPI_Win_start(group, 0, win);
        MPI_Put(local, 1, MPI_INT, there, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
    } else {
        MPI_Win_post(group, MPI_MODE_NOPUT, win);
        for (flag = 0; !flag;)
            MPI_Win_test(win, &flag);
        MPI_Win_start(group, 0, win);
        MPI_Win_complete(win);
    }
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void locked(MPI_Win win)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, there, 0, win);
    MPI_Put(local, 1, MPI_INT, there, 0, 1, MPI_INT, win);
    MPI_Win_unlock(there, win);
}

static void named(MPI_Win win)
{
    MPI_Info info, got;
    char name[MPI_MAX_OBJECT_NAME];
    int length;

    MPI_Win_set_name(win, "a window");
    MPI_Win_get_name(win, name, &length);
    CHECK(strcmp(name, "a window") == 0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "false");
    MPI_Win_set_info(win, info);
    MPI_Win_get_info(win, &got);
    MPI_Info_free(&got);
    MPI_Info_free(&info);
}

static void shared(void)
{
    MPI_Win win;
    MPI_Aint size;
    int unit, *mine, *his;

    MPI_Win_allocate_shared(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, there, &size, &unit, &his);
    CHECK(size == N * sizeof(int) && unit == sizeof(int));
    MPI_Win_fence(0, win);
    mine[0] = rank + 1;
    MPI_Win_fence(0, win);
    CHECK(his[0] == there + 1);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
#if MPI_VERSION >= 4
    MPI_Aint unit_c;
    MPI_Win_allocate_shared_c(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query_c(win, there, &size, &unit_c, &his);
    CHECK(unit_c == sizeof(int));
    MPI_Win_free(&win);
#endif
}

static void dynamic(void)
{
    MPI_Win win;
    MPI_Aint mine, his;
    int memory[N] = {0};

    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, there, 0, &his, 1, MPI_AINT, there, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(local, 1, MPI_INT, there, his, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == there + 1);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
}

int main(void)
{
    MPI_Win win;
    int memory[N] = {0}, *allocated;

    begin();
    there = 1 - rank;
    for (int i = 0; i < N; i++)
        local[i] = rank + 1;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    fenced(win);
    posted(win);
    locked(win);
    requested(win);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
    named(win);
    locked(win);
    MPI_Win_free(&win);
#if MPI_VERSION >= 4
    MPI_Win_create_c(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Win_allocate_c(N * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &allocated, &win);
    MPI_Win_free(&win);
#endif
    shared();
    dynamic();
    return end();
}
