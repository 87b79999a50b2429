// SPDX-License-Identifier: Apache-2.0
// Constructors of datatypes and what they are asked; operations; packing.
#include <mpi.h>
#include <stddef.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

int main(void)
{
    int rank, lengths[2] = {2, 1}, places[2] = {0, 4}, size, position = 0, x = 1, integers[4];
    int sizes[2] = {4, 4}, part[2] = {2, 2}, starts[2] = {1, 0}, ni, na, nd, combiner, yes;
    MPI_Aint bytes[2] = {0, 8}, lb, extent;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, vector, other, inner[1];
    MPI_Op op;
    char buffer[32];

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Type_size(vector, &size);
    MPI_Type_get_extent(vector, &lb, &extent);
    MPI_Type_get_envelope(vector, &ni, &na, &nd, &combiner);
    MPI_Type_get_contents(vector, 3, 0, 1, integers, bytes, inner);
    MPI_Type_indexed(2, lengths, places, vector, &other);
    MPI_Type_free(&vector);
    MPI_Type_create_struct(2, lengths, bytes, types, &vector);
    MPI_Type_free(&other);
    MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &other);
    MPI_Pack(&x, 1, MPI_INT, buffer, 32, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack(buffer, 32, &position, &x, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Op_create(add, 1, &op);
    MPI_Op_commutative(op, &yes);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
