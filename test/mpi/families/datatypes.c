// SPDX-License-Identifier: Apache-2.0
// Datatypes: every constructor with its large-count form, envelope and contents, extents, names, packing.
#include "family.h"

static MPI_Datatype type;

// done asks a new type for all there is to know and frees it.
static void done(MPI_Count bytes)
{
    int size, integers, addresses, datatypes, combiner;
    MPI_Aint lb, extent;
    MPI_Count size_x, lb_x, extent_x;

    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    MPI_Type_size_x(type, &size_x);
    CHECK(size == bytes && size_x == bytes);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_extent_x(type, &lb_x, &extent_x);
    CHECK(lb == lb_x && extent == extent_x);
    MPI_Type_get_true_extent(type, &lb, &extent);
    MPI_Type_get_true_extent_x(type, &lb_x, &extent_x);
    CHECK(lb == lb_x && extent == extent_x);
    MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        int i[integers + 1];
        MPI_Aint a[addresses + 1];
        MPI_Datatype d[datatypes + 1];
        MPI_Type_get_contents(type, integers, addresses, datatypes, i, a, d);
    }
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
}

static void constructors(void)
{
    int lengths[] = {2, 1}, places[] = {0, 3};
    MPI_Aint bytes[] = {0, 16};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    int sizes[] = {4, 4}, part[] = {2, 2}, starts[] = {1, 1};
    int distribution[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 1}, grid[] = {1, 1};

    MPI_Type_contiguous(3, MPI_INT, &type);
    done(12);
    MPI_Type_vector(2, 1, 3, MPI_INT, &type);
    done(8);
    MPI_Type_create_hvector(2, 1, 12, MPI_INT, &type);
    done(8);
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    done(12);
    MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type);
    done(12);
    MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type);
    done(16);
    MPI_Type_create_hindexed_block(2, 2, bytes, MPI_INT, &type);
    done(16);
    MPI_Type_create_struct(2, lengths, bytes, types, &type);
    done(16);
    MPI_Type_create_subarray(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type);
    done(16);
    MPI_Type_create_darray(1, 0, 2, sizes, distribution, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT, &type);
    done(64);
    MPI_Type_create_resized(MPI_INT, -4, 16, &type);
    done(4);
    MPI_Type_dup(MPI_INT, &type);
    done(4);
    MPI_Type_create_f90_integer(9, &type);
    MPI_Type_create_f90_real(15, 307, &type);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &type);
    int combiner, i[2], a, d, none;
    MPI_Type_get_envelope(type, &i[0], &a, &d, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_COMPLEX && i[0] == 2);
    MPI_Type_get_contents(type, 2, 0, 0, i, (MPI_Aint *)&none, &type);
    CHECK(i[0] == 6 && i[1] == MPI_UNDEFINED);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Type_size(type, &none);
    CHECK(none == 8);
}

// What MPI 2.0 deprecated and MPI 3.0 removed is exported still.
static void of_mpi1(void)
{
    int lengths[] = {2, 1};
    MPI_Aint bytes[] = {0, 16}, extent, lb, ub;
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};

    MPI_Type_hvector(2, 1, 12, MPI_INT, &type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lb);
    MPI_Type_ub(type, &ub);
    CHECK(extent == 16 && lb == 0 && ub == 16);
    MPI_Type_free(&type);
    MPI_Type_hindexed(2, lengths, bytes, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Type_struct(2, lengths, bytes, types, &type);
    MPI_Type_free(&type);
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;

    MPI_Type_get_name(MPI_INT, name, &length);
    CHECK(strcmp(name, "MPI_INT") == 0 && length == 7);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_name(type, "two numbers");
    MPI_Type_get_name(type, name, &length);
    CHECK(strcmp(name, "two numbers") == 0);
    MPI_Type_free(&type);
}

static void packing(void)
{
    char buffer[64];
    int size, position = 0, number = 12, got = 0;
    double x = 1.5, y = 0;
    MPI_Aint external, at = 0;

    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &size);
    CHECK(size >= 4);
    MPI_Pack(&number, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack(buffer, sizeof buffer, &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(buffer, sizeof buffer, &position, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(got == 12 && y == 1.5);
    MPI_Pack_external_size("external32", 1, MPI_INT, &external);
    CHECK(external == 4);
    MPI_Pack_external("external32", &number, 1, MPI_INT, buffer, sizeof buffer, &at);
    CHECK(at == 4 && buffer[3] == 12);
    at = 0;
    MPI_Unpack_external("external32", buffer, sizeof buffer, &at, &got, 1, MPI_INT);
    CHECK(got == 12);
}

#if MPI_VERSION >= 4
// done_large is done with the large-count queries.
static void done_large(MPI_Count bytes)
{
    MPI_Count integers, addresses, counts, datatypes, size, lb, extent;
    int combiner;

    MPI_Type_size_c(type, &size);
    CHECK(size == bytes);
    MPI_Type_get_extent_c(type, &lb, &extent);
    MPI_Type_get_true_extent_c(type, &lb, &extent);
    MPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &datatypes, &combiner);
    int i[integers + 1];
    MPI_Aint a[addresses + 1];
    MPI_Count c[counts + 1];
    MPI_Datatype d[datatypes + 1];
    MPI_Type_get_contents_c(type, integers, addresses, counts, datatypes, i, a, c, d);
    MPI_Type_free(&type);
}

static void large(void)
{
    MPI_Count lengths[] = {2, 1}, places[] = {0, 3}, bytes[] = {0, 16};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Count sizes[] = {4, 4}, part[] = {2, 2}, starts[] = {1, 1};
    int distribution[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 1}, grid[] = {1, 1};

    MPI_Type_contiguous_c(3, MPI_INT, &type);
    done_large(12);
    MPI_Type_vector_c(2, 1, 3, MPI_INT, &type);
    done_large(8);
    MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &type);
    done_large(8);
    MPI_Type_indexed_c(2, lengths, places, MPI_INT, &type);
    done_large(12);
    MPI_Type_create_hindexed_c(2, lengths, bytes, MPI_INT, &type);
    done_large(12);
    MPI_Type_create_indexed_block_c(2, 2, places, MPI_INT, &type);
    done_large(16);
    MPI_Type_create_hindexed_block_c(2, 2, bytes, MPI_INT, &type);
    done_large(16);
    MPI_Type_create_struct_c(2, lengths, bytes, types, &type);
    done_large(16);
    MPI_Type_create_subarray_c(2, sizes, part, starts, MPI_ORDER_C, MPI_INT, &type);
    done_large(16);
    MPI_Type_create_darray_c(1, 0, 2, sizes, distribution, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT, &type);
    done_large(64);
    MPI_Type_create_resized_c(MPI_INT, -4, 16, &type);
    done_large(4);

    char buffer[64];
    int number = 12, got = 0;
    MPI_Count size, position = 0;
    MPI_Pack_size_c(1, MPI_INT, MPI_COMM_WORLD, &size);
    MPI_Pack_c(&number, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    position = 0;
    MPI_Unpack_c(buffer, sizeof buffer, &position, &got, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(got == 12);
    MPI_Pack_external_size_c("external32", 1, MPI_INT, &size);
    position = 0;
    MPI_Pack_external_c("external32", &number, 1, MPI_INT, buffer, sizeof buffer, &position);
    position = got = 0;
    MPI_Unpack_external_c("external32", buffer, sizeof buffer, &position, &got, 1, MPI_INT);
    CHECK(got == 12 && position == 4);
}
#endif

int main(void)
{
    begin();
    constructors();
    of_mpi1();
    names();
    packing();
#if MPI_VERSION >= 4
    large();
#endif
    return end();
}
