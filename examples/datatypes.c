// SPDX-License-Identifier: Apache-2.0
// Derived datatypes: each is sent to the right neighbor and received as something else, so that wrong layouts show.
//
//   --rounds N  default 2
//
// Known beforehand:
//   Topology   a ring.
//   Results    every number that arrives; the gaps that a datatype leaves stay untouched.
//   Datatypes  per round each function makes and frees what it uses; what they are made of is asked for with
//              MPI_Type_get_envelope and MPI_Type_get_contents in contents.
#include "common.h"

#include <stddef.h>

static long rounds = 2;

static const struct option options[] = {{"--rounds", "how often", .number = &rounds}, {0}};

enum { N = 6, UNTOUCHED = -7 };

static int left, right;

static int cell(int r, int i, int j)
{
    return 10000 * r + 100 * i + j;
}

static void fill(int matrix[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            matrix[i][j] = cell(rank, i, j);
}

static void wipe(int *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = UNTOUCHED;
}

// pass sends right what it has as one datatype and receives from the left as another.
static void pass(const void *from, int sent, MPI_Datatype as, void *to, int received, MPI_Datatype like)
{
    MPI_Status status;
    int count;
    MPI_Sendrecv(from, sent, as, right, 1, to, received, like, left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, like, &count);
    check(count == received, "%d received, not %d", count, received);
}

NAMED static void vector(void)
{
    int matrix[N][N], column[N];
    MPI_Datatype type;
    fill(matrix);
    MPI_Type_vector(N, 1, N, MPI_INT, &type);
    MPI_Type_commit(&type);
    pass(&matrix[0][2], 1, type, column, N, MPI_INT);
    for (int i = 0; i < N; i++)
        check(column[i] == cell(left, i, 2), "vector: %d", column[i]);
    MPI_Type_free(&type);
}

// transposed receives rows as columns, by a vector of bytes that is resized to one number.
NAMED static void transposed(void)
{
    int matrix[N][N], turned[N][N];
    MPI_Datatype column, next;
    MPI_Aint low, extent;
    fill(matrix);
    wipe(&turned[0][0], N * N);
    MPI_Type_create_hvector(N, 1, N * sizeof(int), MPI_INT, &column);
    MPI_Type_create_resized(column, 0, sizeof(int), &next);
    MPI_Type_commit(&next);
    MPI_Type_get_extent(next, &low, &extent);
    check(low == 0 && extent == sizeof(int), "resized to %ld", (long)extent);
    MPI_Type_get_true_extent(next, &low, &extent);
    check(extent == ((N - 1) * N + 1) * (long)sizeof(int), "true extent %ld", (long)extent);
    pass(matrix, N * N, MPI_INT, turned, N, next);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            check(turned[j][i] == cell(left, i, j), "transposed: %d", turned[j][i]);
    MPI_Type_free(&next);
    MPI_Type_free(&column);
}

NAMED static void indexed(void)
{
    int matrix[N][N], triangle[N][N], lengths[N], displacements[N];
    MPI_Datatype type;
    fill(matrix);
    wipe(&triangle[0][0], N * N);
    for (int i = 0; i < N; i++) {
        lengths[i] = N - i;
        displacements[i] = i * N + i;
    }
    MPI_Type_indexed(N, lengths, displacements, MPI_INT, &type);
    MPI_Type_commit(&type);
    pass(matrix, 1, type, triangle, 1, type);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            check(triangle[i][j] == (j >= i ? cell(left, i, j) : UNTOUCHED), "indexed: %d", triangle[i][j]);
    MPI_Type_free(&type);
}

NAMED static void blocks(void)
{
    int line[12], got[12];
    int places[3] = {0, 5, 10};
    MPI_Aint bytes[3] = {0, 5 * sizeof(int), 10 * sizeof(int)};
    int lengths[3] = {2, 2, 2};
    MPI_Datatype block, hindexed;
    for (int i = 0; i < 12; i++)
        line[i] = cell(rank, 0, i);
    wipe(got, 12);
    MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &block);
    MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &hindexed);
    MPI_Type_commit(&block);
    MPI_Type_commit(&hindexed);
    pass(line, 1, block, got, 1, hindexed);
    for (int i = 0; i < 12; i++)
        check(got[i] == (i % 5 < 2 ? cell(left, 0, i) : UNTOUCHED), "indexed_block: %d at %d", got[i], i);
    MPI_Type_free(&block);
    MPI_Type_free(&hindexed);
}

struct particle {
    char kind;
    double position[3];
    int id;
};

NAMED static void structure(void)
{
    struct particle sent[2], got[2];
    int lengths[3] = {1, 3, 1}, size;
    MPI_Aint base, displacements[3];
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, bare, type;
    MPI_Get_address(&sent[0], &base);
    MPI_Get_address(&sent[0].kind, &displacements[0]);
    MPI_Get_address(&sent[0].position, &displacements[1]);
    MPI_Get_address(&sent[0].id, &displacements[2]);
    for (int i = 0; i < 3; i++)
        displacements[i] -= base;
    MPI_Type_create_struct(3, lengths, displacements, types, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    check(size == 1 + 3 * 8 + 4, "a particle has %d bytes of data", size);
    for (int i = 0; i < 2; i++)
        sent[i] = (struct particle){'a' + i, {rank, i, 0.5}, rank * 2 + i};
    memset(got, 0, sizeof got);
    pass(sent, 2, type, got, 2, type);
    for (int i = 0; i < 2; i++)
        check(got[i].kind == 'a' + i && got[i].position[0] == left && got[i].position[1] == i && got[i].position[2] == 0.5 && got[i].id == left * 2 + i,
            "struct: particle %d", got[i].id);
    MPI_Type_free(&type);
    MPI_Type_free(&bare);
}

NAMED static void subarray(void)
{
    int matrix[N][N], middle[2][3];
    int sizes[2] = {N, N}, part[2] = {2, 3}, start[2] = {3, 1};
    MPI_Datatype type;
    fill(matrix);
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    pass(matrix, 1, type, middle, 6, MPI_INT);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            check(middle[i][j] == cell(left, 3 + i, 1 + j), "subarray: %d", middle[i][j]);
    MPI_Type_free(&type);
}

// distributed asks how large this rank's part is of an array that is spread over all ranks.
NAMED static void distributed(void)
{
    int sizes[1] = {3 * ranks}, how[1] = {MPI_DISTRIBUTE_BLOCK}, argument[1] = {MPI_DISTRIBUTE_DFLT_DARG}, grid[1] = {ranks}, size;
    MPI_Datatype type;
    MPI_Type_create_darray(ranks, rank, 1, sizes, how, argument, grid, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    check(size == 3 * (int)sizeof(int), "darray: %d bytes", size);
    MPI_Type_free(&type);
}

NAMED static void packed(void)
{
    char buffer[256];
    int position = 0, needed, more, id = rank;
    double values[2] = {rank + 0.25, -rank};
    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &needed);
    MPI_Pack_size(2, MPI_DOUBLE, MPI_COMM_WORLD, &more);
    check(needed + more <= (int)sizeof buffer, "packing takes %d bytes", needed + more);
    MPI_Pack(&id, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(values, 2, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Sendrecv_replace(buffer, position, MPI_PACKED, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    position = 0;
    MPI_Unpack(buffer, sizeof buffer, &position, &id, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, sizeof buffer, &position, values, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    check(id == left && values[0] == left + 0.25 && values[1] == -left, "unpacked %d, %g, %g", id, values[0], values[1]);
}

NAMED static void packed_external(void)
{
    char buffer[64];
    MPI_Aint position = 0, needed;
    int sent[3] = {1, -2, 1 << 20}, got[3] = {0};
    MPI_Pack_external_size("external32", 3, MPI_INT, &needed);
    check(needed == 12, "external32 takes %ld bytes", (long)needed);
    MPI_Pack_external("external32", sent, 3, MPI_INT, buffer, sizeof buffer, &position);
    check((unsigned char)buffer[0] == 0 && buffer[3] == 1, "external32 is not big endian");
    position = 0;
    MPI_Unpack_external("external32", buffer, sizeof buffer, &position, got, 3, MPI_INT);
    check(memcmp(sent, got, sizeof sent) == 0, "unpack_external: %d, %d, %d", got[0], got[1], got[2]);
}

// contents takes a datatype apart.
NAMED static void contents(void)
{
    MPI_Datatype inner, outer, copy, parts[1];
    int integers, addresses, types, combiner, numbers[3], length;
    MPI_Aint none[1];
    char text[MPI_MAX_OBJECT_NAME];
    MPI_Type_contiguous(2, MPI_INT, &inner);
    MPI_Type_vector(3, 1, 2, inner, &outer);
    MPI_Type_set_name(outer, "pairs");
    MPI_Type_get_name(outer, text, &length);
    check(strcmp(text, "pairs") == 0, "name is %s", text);
    MPI_Type_dup(outer, &copy);

    MPI_Type_get_envelope(outer, &integers, &addresses, &types, &combiner);
    check(integers == 3 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_VECTOR, "envelope: %d, %d, %d", integers, addresses, types);
    MPI_Type_get_contents(outer, 3, 0, 1, numbers, none, parts);
    check(numbers[0] == 3 && numbers[1] == 1 && numbers[2] == 2, "contents: %d, %d, %d", numbers[0], numbers[1], numbers[2]);
    MPI_Type_get_envelope(parts[0], &integers, &addresses, &types, &combiner);
    check(combiner == MPI_COMBINER_CONTIGUOUS, "the inner datatype's combiner is %d", combiner);
    MPI_Type_free(&parts[0]);
    MPI_Type_get_envelope(MPI_INT, &integers, &addresses, &types, &combiner);
    check(combiner == MPI_COMBINER_NAMED, "MPI_INT's combiner is %d", combiner);

    MPI_Type_free(&copy);
    MPI_Type_free(&outer);
    MPI_Type_free(&inner);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    for (long k = 0; k < rounds; k++) {
        vector();
        transposed();
        indexed();
        blocks();
        structure();
        subarray();
        distributed();
        packed();
        packed_external();
        contents();
    }
    return end();
}
