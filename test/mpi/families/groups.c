// SPDX-License-Identifier: Apache-2.0
// Groups. Three ranks or more.
#include "family.h"

int main(void)
{
    begin();
    MPI_Group all, a, b, c;
    int size, own, result, there[2];
    int first[2] = {0, 1}, last[2] = {2, 1}, range[1][3] = {{0, 2, 2}};

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_size(all, &size);
    MPI_Group_rank(all, &own);
    CHECK(size == ranks && own == rank);
    MPI_Group_incl(all, 2, first, &a);
    MPI_Group_incl(all, 2, last, &b);
    MPI_Group_compare(a, b, &result);
    CHECK(result == MPI_UNEQUAL);
    MPI_Group_translate_ranks(a, 2, first, b, there);
    CHECK(there[0] == MPI_UNDEFINED && there[1] == 1);
    MPI_Group_union(a, b, &c);
    MPI_Group_size(c, &size);
    CHECK(size == 3);
    MPI_Group_free(&c);
    MPI_Group_intersection(a, b, &c);
    MPI_Group_size(c, &size);
    CHECK(size == 1);
    MPI_Group_free(&c);
    MPI_Group_difference(a, b, &c);
    MPI_Group_size(c, &size);
    CHECK(size == 1);
    MPI_Group_free(&c);
    MPI_Group_difference(a, a, &c);
    MPI_Group_compare(c, MPI_GROUP_EMPTY, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_excl(all, 2, first, &c);
    MPI_Group_rank(c, &own);
    CHECK(own == (rank < 2 ? MPI_UNDEFINED : rank - 2));
    MPI_Group_free(&c);
    MPI_Group_range_incl(all, 1, range, &c);
    MPI_Group_size(c, &size);
    CHECK(size == 2);
    MPI_Group_free(&c);
    MPI_Group_range_excl(all, 1, range, &c);
    MPI_Group_size(c, &size);
    CHECK(size == ranks - 2);
    MPI_Group_free(&c);
    CHECK(c == MPI_GROUP_NULL);
    MPI_Group_free(&b);
    MPI_Group_free(&a);
    MPI_Group_free(&all);
    return end();
}
