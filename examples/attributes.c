// SPDX-License-Identifier: Apache-2.0
// What hangs on MPI's objects: attributes with callbacks, infos, error handlers, and calls that fail.
//
//   --rounds N  default 2
//
// Known beforehand:
//   Callbacks  the copy callback runs once per MPI_Comm_dup and calls MPI_Comm_size itself, inside that call; the
//              delete callback runs once per attribute that is deleted, replaced or freed with its communicator.
//   Errors     per round one MPI_Send to a rank that is not there, returned to the caller, and one which a handler of
//              our own is called for, inside MPI_Send.
//   Topology   none: no rank sends anything to another, but for the barrier in the end.
#include "common.h"

static long rounds = 2;

static const struct option options[] = {{"--rounds", "how often", .number = &rounds}, {0}};

static int copies, deletions, handled;

// copy gives the duplicate an attribute that is one more.
static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *new_value, int *keep)
{
    int size = 0;
    (void)keyval;
    MPI_Comm_size(comm, &size);
    check(size == ranks && extra == &copies, "the copy callback sees %d ranks", size);
    copies++;
    *(void **)new_value = (char *)value + 1;
    *keep = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void expect_attribute(MPI_Comm comm, int keyval, const void *expected)
{
    void *value = NULL;
    int flag = 0;
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    check(flag == (expected != NULL) && (!flag || value == expected), "attribute %p, not %p", value, expected);
}

NAMED static void on_communicators(void)
{
    static char text[] = "attribute";
    MPI_Comm first, second;
    int keyval, *upper, flag;
    copies = deletions = 0;
    MPI_Comm_create_keyval(copy, delete, &keyval, &copies);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    check(copies == 0, "an attribute is copied that is not there");
    expect_attribute(first, keyval, NULL);
    MPI_Comm_set_attr(first, keyval, text);
    expect_attribute(first, keyval, text);
    MPI_Comm_dup(first, &second);
    check(copies == 1, "%d copies", copies);
    expect_attribute(second, keyval, text + 1);
    MPI_Comm_set_attr(second, keyval, text + 5);
    check(deletions == 1, "%d deletions by replacement", deletions);
    MPI_Comm_delete_attr(first, keyval);
    check(deletions == 2, "%d deletions", deletions);
    MPI_Comm_free(&second);
    check(deletions == 3, "%d deletions after the communicator", deletions);
    MPI_Comm_free(&first);
    MPI_Comm_free_keyval(&keyval);
    check(keyval == MPI_KEYVAL_INVALID && deletions == 3, "%d deletions in all", deletions);

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &upper, &flag);
    check(flag && *upper >= 32767, "no MPI_TAG_UB");
}

NAMED static void on_datatypes(void)
{
    static char text[] = "datatype";
    MPI_Datatype type, second;
    int keyval, flag = 0;
    void *value = NULL;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Type_set_attr(type, keyval, text);
    MPI_Type_dup(type, &second);
    MPI_Type_get_attr(second, keyval, &value, &flag);
    check(flag && value == text, "the datatype's attribute is not copied");
    MPI_Type_delete_attr(type, keyval);
    MPI_Type_get_attr(type, keyval, &value, &flag);
    check(!flag, "the datatype's attribute is still there");
    MPI_Type_free(&second);
    MPI_Type_free(&type);
    MPI_Type_free_keyval(&keyval);
}

NAMED static void on_windows(void)
{
    static char text[] = "window";
    MPI_Win win;
    int keyval, flag = 0, *unit, memory[2];
    void *value = NULL;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_attr(win, keyval, text);
    MPI_Win_get_attr(win, keyval, &value, &flag);
    check(flag && value == text, "the window's attribute is lost");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    check(flag && *unit == sizeof(int), "the window's displacement unit is lost");
    MPI_Win_delete_attr(win, keyval);
    MPI_Win_free(&win);
    MPI_Win_free_keyval(&keyval);
}

NAMED static void infos(void)
{
    MPI_Info info, second;
    char value[32], key[MPI_MAX_INFO_KEY + 1];
    int n = -1, flag = 0, length = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "color", "blue");
    MPI_Info_set(info, "size", "large");
    MPI_Info_get_nkeys(info, &n);
    check(n == 2, "%d keys", n);
    MPI_Info_get_nthkey(info, 0, key);
    check(strcmp(key, "color") == 0 || strcmp(key, "size") == 0, "first key %s", key);
    MPI_Info_get_valuelen(info, "color", &length, &flag);
    check(flag && length == 4, "value of length %d", length);
    MPI_Info_dup(info, &second);
    MPI_Info_delete(info, "color");
    MPI_Info_get(second, "color", 31, value, &flag);
    check(flag && strcmp(value, "blue") == 0, "the duplicate has lost a value");
    MPI_Info_get(info, "color", 31, value, &flag);
    check(!flag, "a deleted key is still there");
    MPI_Info_free(&second);
    MPI_Info_free(&info);
}

static int error_class(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static int send_to_nobody(MPI_Comm comm)
{
    return MPI_Send(&rank, 1, MPI_INT, ranks + 5, 0, comm);
}

// handle is called by MPI, inside the call that fails.
static void handle(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    check(length > 0 && error_class(*code) == MPI_ERR_RANK, "error class %d", error_class(*code));
    handled++;
}

NAMED static void failures(void)
{
    MPI_Comm comm;
    MPI_Errhandler mine, before;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    check(error_class(send_to_nobody(comm)) == MPI_ERR_RANK, "a send to nobody does not fail");
    MPI_Comm_get_errhandler(comm, &before);
    check(before == MPI_ERRORS_RETURN, "another error handler");
    MPI_Errhandler_free(&before);

    handled = 0;
    MPI_Comm_create_errhandler(handle, &mine);
    MPI_Comm_set_errhandler(comm, mine);
    send_to_nobody(comm);
    check(handled == 1, "the handler ran %d times", handled);
    MPI_Comm_call_errhandler(comm, MPI_ERR_RANK);
    check(handled == 2, "the handler ran %d times", handled);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    begin(argc, argv, options);
    for (long k = 0; k < rounds; k++) {
        on_communicators();
        on_datatypes();
        on_windows();
        infos();
        failures();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
