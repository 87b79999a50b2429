// SPDX-License-Identifier: Apache-2.0
// Communicators: made in every way there is, used for a sum, named, and freed so that handles are used again.
//
//   --repeat N  how often communicators are made and freed in turn, default 4
//
// Known beforehand:
//   Communicators  rows and columns of a grid of about sqrt(ranks) columns; halves (even and odd ranks); one per
//                  node; duplicates of the world; an intercommunicator between the halves and what it merges to.
//                  Each is used at once: the sum of the world ranks in it is known to all its members.
//   Names          "row I", "column J", "even", "odd", "merged".
//   Handles        comm_repeated makes 2 * N communicators in 2 places, all of them freed.
#include "common.h"

static long repeat = 4;

static const struct option options[] = {
    {"--repeat", "how often communicators are made and freed in turn", .number = &repeat},
    {0},
};

// use sums the world ranks of a communicator's members.
static void use(MPI_Comm comm, long expected, const char *what)
{
    long mine = rank, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    check(sum == expected, "%s: sum %ld, not %ld", what, sum, expected);
}

// sum_of adds the ranks first, first + step, ... below end.
static long sum_of(int first, int step, int end)
{
    long sum = 0;
    for (int r = first; r < end; r += step)
        sum += r;
    return sum;
}

static long sum_of_world(void)
{
    return sum_of(0, 1, ranks);
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static void name(MPI_Comm comm, const char *text)
{
    char got[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_set_name(comm, text);
    MPI_Comm_get_name(comm, got, &length);
    check(strcmp(got, text) == 0 && length == (int)strlen(text), "name is %s, not %s", got, text);
}

NAMED static void rows_and_columns(void)
{
    MPI_Comm row, column;
    char text[32];
    int width = 1;
    while ((width + 1) * (width + 1) <= ranks)
        width++;
    int i = rank / width, j = rank % width;

    MPI_Comm_split(MPI_COMM_WORLD, i, j, &row);
    snprintf(text, sizeof text, "row %d", i);
    name(row, text);
    use(row, sum_of(i * width, 1, smaller((i + 1) * width, ranks)), text);

    MPI_Comm_split(MPI_COMM_WORLD, j, i, &column);
    snprintf(text, sizeof text, "column %d", j);
    name(column, text);
    use(column, sum_of(j, width, ranks), text);

    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
}

// undefined leaves odd ranks without a communicator; keys turn the order of the others around.
NAMED static void undefined(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 5, -rank, &comm);
    check((comm == MPI_COMM_NULL) == (rank % 2 == 1), "communicator where none should be, or none");
    if (comm == MPI_COMM_NULL)
        return;
    int new_rank, size;
    MPI_Comm_rank(comm, &new_rank);
    MPI_Comm_size(comm, &size);
    check(new_rank == size - 1 - rank / 2, "rank %d of %d", new_rank, size);
    use(comm, sum_of(0, 2, ranks), "undefined");
    MPI_Comm_free(&comm);
}

NAMED static void node(void)
{
    MPI_Comm comm;
    int size;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_size(comm, &size);
    check(size >= 1 && size <= ranks, "node of %d ranks", size);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

NAMED static void duplicates(void)
{
    MPI_Comm copy, with_info, later;
    MPI_Request request;
    int result;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &with_info);
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
    use(copy, sum_of_world(), "dup while an idup is under way");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(later, sum_of_world(), "idup");
    use(with_info, sum_of_world(), "dup_with_info");
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
    check(result == MPI_CONGRUENT, "comparison says %d", result);
    MPI_Comm_free(&later);
    MPI_Comm_free(&with_info);
    MPI_Comm_free(&copy);
}

// halves_group is the group of the even or the odd ranks, whichever the caller is of.
static MPI_Group halves_group(void)
{
    MPI_Group world, half;
    int range[1][3] = {{rank % 2, ranks - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &half);
    MPI_Group_free(&world);
    return half;
}

NAMED static void created(void)
{
    MPI_Group world, without, half = halves_group();
    MPI_Comm comm;
    int last[1] = {ranks - 1};
    MPI_Comm_create(MPI_COMM_WORLD, half, &comm);
    use(comm, sum_of(rank % 2, 2, ranks), "create");
    MPI_Comm_free(&comm);

    MPI_Comm_create_group(MPI_COMM_WORLD, half, 11, &comm);
    use(comm, sum_of(rank % 2, 2, ranks), "create_group");
    MPI_Comm_free(&comm);
    MPI_Group_free(&half);

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, last, &without);
    MPI_Comm_create(MPI_COMM_WORLD, without, &comm);
    check((comm == MPI_COMM_NULL) == (rank == ranks - 1), "the last rank is left out");
    if (comm != MPI_COMM_NULL) {
        use(comm, sum_of(0, 1, ranks - 1), "without the last");
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&without);
    MPI_Group_free(&world);
}

NAMED static void groups(void)
{
    MPI_Group world, half = halves_group(), both, none, rest;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int mine = -1, size = -1, zero = 0, there = -1, result = -1;
    MPI_Group_rank(half, &mine);
    check(mine == rank / 2, "rank %d in the half", mine);
    MPI_Group_translate_ranks(half, 1, &zero, world, &there);
    check(there == rank % 2, "first of the half is world rank %d", there);
    MPI_Group_difference(world, half, &rest);
    MPI_Group_union(half, rest, &both);
    MPI_Group_compare(both, world, &result);
    check(result == (ranks == 2 && rank == 0 ? MPI_IDENT : MPI_SIMILAR), "comparison says %d", result);
    MPI_Group_intersection(half, rest, &none);
    MPI_Group_size(none, &size);
    check(size == 0, "%d ranks in both halves", size);
    if (none != MPI_GROUP_EMPTY)
        MPI_Group_free(&none);
    MPI_Group_free(&both);
    MPI_Group_free(&rest);
    MPI_Group_free(&half);
    MPI_Group_free(&world);
}

NAMED static void inter(void)
{
    MPI_Comm half, between, merged;
    int is_inter, other_ranks, odd = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half);
    name(half, odd ? "odd" : "even");
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 12, &between);
    MPI_Comm_test_inter(between, &is_inter);
    MPI_Comm_remote_size(between, &other_ranks);
    check(is_inter && other_ranks == (odd ? (ranks + 1) / 2 : ranks / 2), "%d ranks on the other side", other_ranks);
    use(between, sum_of(1 - odd, 2, ranks), "sum over an intercommunicator is the other side's");

    int partner = rank / 2, got = -1; // in the other half, where there is one
    if (partner < ranks / 2) {
        MPI_Sendrecv(&rank, 1, MPI_INT, partner, 13, &got, 1, MPI_INT, partner, 13, between, MPI_STATUS_IGNORE);
        check(got == (odd ? rank - 1 : rank + 1), "partner is %d", got);
    }
    MPI_Intercomm_merge(between, odd, &merged);
    name(merged, "merged");
    int position;
    MPI_Comm_rank(merged, &position);
    check(position == rank / 2 + (odd ? (ranks + 1) / 2 : 0), "rank %d after the merge", position);
    use(merged, sum_of_world(), "merged");
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

// comm_repeated makes and frees communicators so that the library gives the same handles again.
NAMED static void comm_repeated(void)
{
    for (long i = 0; i < repeat; i++) {
        MPI_Comm copy, half;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        use(copy, sum_of_world(), "repeated dup");
        MPI_Comm_split(copy, (rank + i) % 2, 0, &half);
        MPI_Comm_free(&copy);
        use(half, sum_of(rank % 2, 2, ranks), "repeated split");
        MPI_Comm_free(&half);
    }
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    rows_and_columns();
    undefined();
    node();
    duplicates();
    created();
    groups();
    inter();
    comm_repeated();
    return end();
}
