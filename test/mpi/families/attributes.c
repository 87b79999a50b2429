// SPDX-License-Identifier: Apache-2.0
// Attributes of communicators, types and windows, with callbacks that call MPI; the functions of MPI 1 for the same; an
// attribute that MPI_Finalize deletes.
#include "family.h"

static int copies, deletions;

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *copied, int *flag)
{
    int size;
    (void)key;
    (void)extra;
    MPI_Comm_size(comm, &size);
    *(void **)copied = value;
    *flag = size == ranks;
    copies++;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int size;
    (void)key;
    (void)value;
    (void)extra;
    MPI_Comm_size(comm, &size);
    deletions++;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *value, void *copied, int *flag)
{
    (void)type;
    (void)key;
    (void)extra;
    *(void **)copied = value;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_window(MPI_Win win, int key, void *value, void *extra)
{
    (void)win;
    (void)key;
    (void)value;
    (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static int note;

static void of_communicators(void)
{
    MPI_Comm comm;
    int key, flag, *value;

    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &note);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(copies == 1);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(flag && value == &note);
    MPI_Comm_delete_attr(comm, key);
    CHECK(deletions == 1);
    MPI_Comm_get_attr(comm, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_free(&comm);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID && deletions == 2);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    CHECK(flag && *value >= 32767);
}

static void of_mpi1(void)
{
    int key, flag, *value;

    MPI_Keyval_create((MPI_Copy_function *)copy, (MPI_Delete_function *)delete, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &note);
    MPI_Attr_get(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(flag && value == &note);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    CHECK(deletions == 3);
    MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
}

static void of_types(void)
{
    MPI_Datatype type, same;
    int key, flag, *value;

    MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &note);
    MPI_Type_dup(type, &same);
    MPI_Type_get_attr(same, key, &value, &flag);
    CHECK(flag && value == &note && copies == 2);
    MPI_Type_delete_attr(same, key);
    MPI_Type_free(&same);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&key);
}

static void of_windows(void)
{
    MPI_Win win;
    int memory, key, flag, *value;

    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_window, &key, NULL);
    MPI_Win_set_attr(win, key, &note);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && value == &note);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag); // not the base itself in MPICH 4.0
    MPI_Win_delete_attr(win, key);
    CHECK(deletions == 4);
    MPI_Win_free_keyval(&key);
    MPI_Win_free(&win);
}

int main(void)
{
    int key;

    begin();
    of_communicators();
    of_mpi1();
    of_types();
    of_windows();
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &note);
    int code = end();
    return deletions == 5 ? code : 1;
}
