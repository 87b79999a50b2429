// SPDX-License-Identifier: Apache-2.0
// One-sided communication: windows of each kind, each way to synchronize, each way to access.
//
//   --rounds N  default 1
//
// Known beforehand:
//   Results    what each rank finds in its window; the shared counter on rank 0 ends as the number of increments,
//              and the tickets that ranks draw from it are all different.
//   Topology   fence and post_start: a ring (rank r accesses r+1); locks: a star around rank 0.
//   Wait states  rank r+1 waits in MPI_Win_wait until r is done (post_start: r works for 1 ms).
// Every window begins at a cache line: MPICH 4.0.2 over UCX, as in Debian 12, accesses the wrong place in windows that
// begin at a multiple of 8 only.
#include "common.h"

static long rounds = 1;

static const struct option options[] = {{"--rounds", "how often", .number = &rounds}, {0}};

enum { LINE = 64 }; // bytes

static int left, right;

// fenced puts to the right, gets from the right and adds to the right, one after the other.
NAMED static void fenced(void)
{
    MPI_Win win;
    int *window, got = -1, value = 10 * rank;
    MPI_Win_allocate(LINE, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    window[0] = window[1] = -1;
    MPI_Win_set_name(win, "fenced");
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    MPI_Put(&value, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    check(window[1] == 10 * left, "put: %d", window[1]);
    MPI_Get(&got, 1, MPI_INT, right, 1, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    check(got == 10 * rank, "get: %d", got);
    MPI_Accumulate(&value, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check(window[1] == 20 * left, "accumulate: %d", window[1]);
    MPI_Win_free(&win);
}

static MPI_Group group_of(int member)
{
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &member, &group);
    MPI_Group_free(&world);
    return group;
}

// post_start exposes a window to the left neighbor only and accesses the right one's.
NAMED static void post_start(void)
{
    MPI_Win win;
    MPI_Group origin = group_of(left), target = group_of(right);
    int value = 7 + rank;
    _Alignas(LINE) int window = -1;
    MPI_Win_create(&window, sizeof window, sizeof window, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_post(origin, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    compute_us(1000);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    check(window == 7 + left, "put in an epoch of one origin: %d", window);
    MPI_Win_free(&win);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

// tickets draws numbers from a counter on rank 0, each atomically under a lock.
NAMED static void tickets(void)
{
    enum { EACH = 3 };
    MPI_Win win;
    long *counter, one = 1, ticket = -1, drawn = 0, all = -1, last = -1;
    MPI_Win_allocate(rank == 0 ? LINE : 0, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        *counter = 0;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_unlock(0, win);
        check(ticket > last && ticket < (long)EACH * ranks, "ticket %ld after %ld", ticket, last);
        last = ticket;
        drawn += ticket;
    }
    MPI_Allreduce(&drawn, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check(all == (long)EACH * ranks * (EACH * ranks - 1) / 2, "tickets add up to %ld", all);
    MPI_Win_free(&win);
}

// all_locked keeps all targets locked and completes accesses by flushes.
NAMED static void all_locked(void)
{
    MPI_Win win;
    int *window, value = 100 + rank, old = -1, got = -1, expected, fresh = 500 + rank;
    MPI_Win_allocate(LINE, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    window[0] = window[1] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Get_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(right, win);
    check(old == 0, "get_accumulate: %d", old);
    expected = value;
    MPI_Compare_and_swap(&fresh, &expected, &old, MPI_INT, right, 0, win);
    MPI_Win_flush(right, win);
    check(old == value, "compare_and_swap: %d", old);
    MPI_Fetch_and_op(NULL, &got, MPI_INT, right, 0, MPI_NO_OP, win);
    MPI_Win_flush_local(right, win);
    check(got == 500 + rank, "fetch: %d", got);
    MPI_Win_flush_all(win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// requested completes accesses as requests.
NAMED static void requested(void)
{
    MPI_Win win;
    int *window, value = 3 * rank, got = -1;
    MPI_Request request;
    MPI_Win_allocate(LINE, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    MPI_Win_lock_all(0, win);
    MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(got == 3 * rank, "rget: %d", got);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// shared has a window that the ranks of a node see as memory.
NAMED static void shared(void)
{
    MPI_Comm node;
    MPI_Win win;
    MPI_Aint size;
    int me, others, unit, *mine, *next;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &me);
    MPI_Comm_size(node, &others);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, (me + 1) % others, &size, &unit, &next);
    check(size == sizeof(int) && unit == sizeof(int), "the neighbor's part has %ld bytes", (long)size);
    MPI_Win_lock_all(0, win);
    *mine = 40 + me;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);
    check(*next == 40 + (me + 1) % others, "the neighbor wrote %d", *next);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    for (long k = 0; k < rounds; k++) {
        fenced();
        post_start();
        tickets();
        all_locked();
        requested();
        shared();
    }
    return end();
}
