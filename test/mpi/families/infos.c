// SPDX-License-Identifier: Apache-2.0
// Infos.
#include "family.h"

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    begin();
    MPI_Info info, same;
    int n, flag, length;
    char key[MPI_MAX_INFO_KEY + 1], value[32];

    MPI_Info_create(&info);
    MPI_Info_set(info, "color", "deep green");
    MPI_Info_set(info, "shape", "\"round\" %");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 2);
    MPI_Info_get_nthkey(info, 0, key);
    MPI_Info_get_valuelen(info, "color", &length, &flag);
    CHECK(flag && length == 10);
    MPI_Info_get(info, "color", 31, value, &flag);
    CHECK(flag && strcmp(value, "deep green") == 0);
    MPI_Info_get(info, "weight", 31, value, &flag);
    CHECK(!flag);
    MPI_Info_dup(info, &same);
    MPI_Info_delete(info, "color");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 1);
#if MPI_VERSION >= 4
    length = sizeof value;
    MPI_Info_get_string(same, "color", &length, value, &flag);
    CHECK(flag && length == 11);
    length = 0;
    MPI_Info_get_string(same, "color", &length, value, &flag);
    CHECK(flag && length == 11);
    MPI_Info_get_string(same, "weight", &length, value, &flag);
    CHECK(!flag);
#endif
    MPI_Info_free(&same);
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
#if MPI_VERSION >= 4
    MPI_Info_create_env(argc, argv, &info);
    MPI_Info_free(&info);
#endif
    return end();
}
