// SPDX-License-Identifier: Apache-2.0
// Every collective operation, blocking and non-blocking, with equal and with differing counts, in place and not.
//
//   --rounds N  default 1
//
// Known beforehand:
//   Results   rank r contributes element(r, i) = 1000 r + i; what arrives where follows.
//   Classes   per round: barrier, one to all (root 1), all to one (root the last rank), all to all, prefix.
//   Callback  user_defined calls MPI_Type_size in its operation, how often is up to the MPI library; those calls are
//             made inside MPI_Allreduce, MPI_Reduce_local or MPI_Wait.
//   Clusters  all ranks make the same calls; roots differ in what MPI_IN_PLACE stands for.
#include "common.h"

static long rounds = 1;

static const struct option options[] = {{"--rounds", "how often", .number = &rounds}, {0}};

static bool immediate;          // which form to call
static int in[4096], out[4096]; // enough for 60 ranks
static int counts[64], offsets[64], ones[64], byte_offsets[64];
static MPI_Datatype ints[64];

// EITHER calls the blocking or the non-blocking form of an operation on all ranks.
#define EITHER(blocking, nonblocking, ...) \
    do { \
        if (immediate) { \
            MPI_Request request; \
            nonblocking(__VA_ARGS__, MPI_COMM_WORLD, &request); \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
        } else { \
            blocking(__VA_ARGS__, MPI_COMM_WORLD); \
        } \
    } while (0)

static int element(int r, int i)
{
    return 1000 * r + i;
}

static long sum_of_ranks(int n)
{
    return n * (n - 1L) / 2;
}

// fill puts a rank's first n elements at a place.
static void fill(int *at, int r, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = element(r, i);
}

static void clear(void)
{
    memset(out, 0xff, sizeof out);
}

static void expect(const int *at, int r, int first, int n, const char *what)
{
    for (int i = 0; i < n; i++)
        if (!check(at[i] == element(r, first + i), "%s: %d, not %d", what, at[i], element(r, first + i)))
            return;
}

// triangle sets counts and offsets for one element of rank 0, two of rank 1 and so on.
static void triangle(void)
{
    for (int r = 0; r < ranks; r++) {
        counts[r] = r + 1;
        offsets[r] = r * (r + 1) / 2;
    }
}

NAMED static void barrier(void)
{
    if (immediate) {
        MPI_Request request;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

NAMED static void broadcast(void)
{
    clear();
    if (rank == 1)
        fill(out, 1, 5);
    EITHER(MPI_Bcast, MPI_Ibcast, out, 5, MPI_INT, 1);
    expect(out, 1, 0, 5, "bcast");
}

NAMED static void gather(void)
{
    int root = ranks - 1;
    clear();
    fill(in, rank, 2);
    EITHER(MPI_Gather, MPI_Igather, in, 2, MPI_INT, out, 2, MPI_INT, root);
    for (int r = 0; rank == root && r < ranks; r++)
        expect(out + 2 * r, r, 0, 2, "gather");

    clear();
    fill(out + 2 * rank, rank, 2);
    EITHER(MPI_Gather, MPI_Igather, rank == root ? MPI_IN_PLACE : (void *)(out + 2 * rank), 2, MPI_INT, out, 2, MPI_INT, root);
    for (int r = 0; rank == root && r < ranks; r++)
        expect(out + 2 * r, r, 0, 2, "gather in place");

    clear();
    triangle();
    fill(in, rank, rank + 1);
    EITHER(MPI_Gatherv, MPI_Igatherv, in, rank + 1, MPI_INT, out, counts, offsets, MPI_INT, root);
    for (int r = 0; rank == root && r < ranks; r++)
        expect(out + offsets[r], r, 0, r + 1, "gatherv");
}

NAMED static void scatter(void)
{
    clear();
    for (int r = 0; r < ranks; r++)
        fill(in + 2 * r, r, 2);
    EITHER(MPI_Scatter, MPI_Iscatter, in, 2, MPI_INT, out, 2, MPI_INT, 1);
    expect(out, rank, 0, 2, "scatter");

    clear();
    triangle();
    for (int r = 0; r < ranks; r++)
        fill(in + offsets[r], r, r + 1);
    void *to = rank == 1 ? MPI_IN_PLACE : (void *)out;
    EITHER(MPI_Scatterv, MPI_Iscatterv, in, counts, offsets, MPI_INT, to, rank + 1, MPI_INT, 1);
    expect(rank == 1 ? in + offsets[1] : out, rank, 0, rank + 1, "scatterv");
}

NAMED static void allgather(void)
{
    clear();
    fill(in, rank, 3);
    EITHER(MPI_Allgather, MPI_Iallgather, in, 3, MPI_INT, out, 3, MPI_INT);
    for (int r = 0; r < ranks; r++)
        expect(out + 3 * r, r, 0, 3, "allgather");

    clear();
    triangle();
    fill(out + offsets[rank], rank, rank + 1);
    EITHER(MPI_Allgatherv, MPI_Iallgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, counts, offsets, MPI_INT);
    for (int r = 0; r < ranks; r++)
        expect(out + offsets[r], r, 0, r + 1, "allgatherv in place");
}

// alltoall sends element(me, r) to rank r.
NAMED static void alltoall(void)
{
    clear();
    fill(in, rank, ranks);
    EITHER(MPI_Alltoall, MPI_Ialltoall, in, 1, MPI_INT, out, 1, MPI_INT);
    for (int r = 0; r < ranks; r++)
        expect(out + r, r, rank, 1, "alltoall");

    fill(out, rank, ranks);
    EITHER(MPI_Alltoall, MPI_Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT);
    for (int r = 0; r < ranks; r++)
        expect(out + r, r, rank, 1, "alltoall in place");

    clear();
    for (int r = 0; r < ranks; r++) {
        ones[r] = 1;
        offsets[r] = ranks - 1 - r; // the buffer is in reverse order
        byte_offsets[r] = offsets[r] * (int)sizeof(int);
        ints[r] = MPI_INT;
        in[offsets[r]] = element(rank, r);
    }
    EITHER(MPI_Alltoallv, MPI_Ialltoallv, in, ones, offsets, MPI_INT, out, ones, offsets, MPI_INT);
    for (int r = 0; r < ranks; r++)
        expect(out + offsets[r], r, rank, 1, "alltoallv");

    clear();
    EITHER(MPI_Alltoallw, MPI_Ialltoallw, in, ones, byte_offsets, ints, out, ones, byte_offsets, ints);
    for (int r = 0; r < ranks; r++)
        expect(out + offsets[r], r, rank, 1, "alltoallw");
}

NAMED static void reduce(void)
{
    int root = ranks - 1;
    clear();
    fill(in, rank, 2);
    EITHER(MPI_Reduce, MPI_Ireduce, in, out, 2, MPI_INT, MPI_SUM, root);
    if (rank == root)
        check(out[1] == 1000 * sum_of_ranks(ranks) + ranks, "reduce: %d", out[1]);

    fill(out, rank, 2);
    EITHER(MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, out, 2, MPI_INT, MPI_MAX);
    expect(out, ranks - 1, 0, 2, "allreduce in place");

    struct {
        double value;
        int where;
    } mine = {-fabs(rank - 1.0), rank}, best = {0, -1};
    EITHER(MPI_Allreduce, MPI_Iallreduce, &mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC);
    check(best.value == 0 && best.where == 1, "allreduce: %g at %d", best.value, best.where);
}

// reduce_scatter adds up element(r, i) over all r; rank i keeps its part.
NAMED static void reduce_scatter(void)
{
    clear();
    triangle();
    fill(in, rank, offsets[ranks - 1] + ranks);
    EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM);
    for (int i = 0; i <= rank; i++)
        check(out[i] == 1000 * sum_of_ranks(ranks) + ranks * (offsets[rank] + i), "reduce_scatter: %d", out[i]);

    clear();
    fill(in, rank, 2 * ranks);
    EITHER(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, 2, MPI_INT, MPI_SUM);
    for (int i = 0; i < 2; i++)
        check(out[i] == 1000 * sum_of_ranks(ranks) + ranks * (2 * rank + i), "reduce_scatter_block: %d", out[i]);
}

NAMED static void prefix(void)
{
    clear();
    fill(in, rank, 1);
    EITHER(MPI_Scan, MPI_Iscan, in, out, 1, MPI_INT, MPI_SUM);
    check(out[0] == 1000 * sum_of_ranks(rank + 1), "scan: %d", out[0]);

    clear();
    EITHER(MPI_Exscan, MPI_Iexscan, in, out, 1, MPI_INT, MPI_SUM);
    if (rank > 0) // undefined on rank 0
        check(out[0] == 1000 * sum_of_ranks(rank), "exscan: %d", out[0]);
}

// larger_magnitude is an operation of our own, which asks MPI for the datatype's size while it runs.
static void larger_magnitude(void *from, void *to, int *length, MPI_Datatype *datatype)
{
    int size = 0;
    MPI_Type_size(*datatype, &size);
    check(size == sizeof(int), "the operation is called for a datatype of %d bytes", size);
    for (int i = 0; i < *length; i++)
        if (abs(((int *)from)[i]) > abs(((int *)to)[i]))
            ((int *)to)[i] = ((int *)from)[i];
}

NAMED static void user_defined(void)
{
    MPI_Op op;
    int commutes = 0;
    MPI_Op_create(larger_magnitude, 1, &op);
    MPI_Op_commutative(op, &commutes);
    check(commutes, "the operation does not commute");
    clear();
    for (int i = 0; i < 3; i++)
        in[i] = -element(rank, i);
    EITHER(MPI_Allreduce, MPI_Iallreduce, in, out, 3, MPI_INT, op);
    for (int i = 0; i < 3; i++)
        check(out[i] == -element(ranks - 1, i), "operation of our own: %d", out[i]);

    int one[1] = {7}, other[1] = {-9};
    MPI_Reduce_local(other, one, 1, MPI_INT, op);
    check(one[0] == -9, "reduce_local: %d", one[0]);
    MPI_Op_free(&op);
}

// overlapped has three operations under way, completed in another order.
NAMED static void overlapped(void)
{
    MPI_Request requests[3];
    int sum = -1, root = rank == 0 ? 77 : 0;
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&root, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(sum == sum_of_ranks(ranks) && root == 77, "overlapped: sum %d, root's %d", sum, root);
}

NAMED static void all_of_them(void)
{
    barrier();
    broadcast();
    gather();
    scatter();
    allgather();
    alltoall();
    reduce();
    reduce_scatter();
    prefix();
    user_defined();
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    if (ranks > 60) {
        fprintf(stderr, "%s: no more than 60 ranks\n", program);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (long k = 0; k < rounds; k++) {
        immediate = false;
        all_of_them();
        immediate = true;
        all_of_them();
        overlapped();
    }
    return end();
}
