// SPDX-License-Identifier: Apache-2.0
// Attributes and infos.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, key, flag, n, note;
    int *value;
    char text[16];
    MPI_Info info, copy;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &note);
    MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    MPI_Comm_free_keyval(&key);
    MPI_Info_create(&info);
    MPI_Info_set(info, "a key", "a \"value\"");
    MPI_Info_dup(info, &copy);
    MPI_Info_get_nkeys(copy, &n);
    MPI_Info_get(copy, "a key", 15, text, &flag);
    MPI_Info_get(copy, "no key", 15, text, &flag);
    MPI_Info_get_valuelen(copy, "a key", &n, &flag);
    MPI_Info_delete(copy, "a key");
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    MPI_Finalize();
    return 0;
}
