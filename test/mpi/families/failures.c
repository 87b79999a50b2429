// SPDX-License-Identifier: Apache-2.0
// Error handlers of communicators, windows, files and sessions, error classes, and calls that fail. Two ranks.
#include "family.h"

static int called;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    CHECK(length > 0);
    called++;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    (void)code;
    called++;
}

static void on_file(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    called++;
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void handlers(void)
{
    MPI_Errhandler handler, got;
    MPI_Win win;
    MPI_File file;
    int memory;

    MPI_Comm_create_errhandler(on_comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == handler);
    MPI_Errhandler_free(&got);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    CHECK(called == 1);
    MPI_Send(&memory, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD); // no such rank
    CHECK(called == 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    CHECK(handler == MPI_ERRHANDLER_NULL);

    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &got);
    MPI_Errhandler_free(&got);
    MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    CHECK(called == 3);
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&win);

    char name[64];
    snprintf(name, sizeof name, "/tmp/cairn-failures-%d", (int)getpid());
    MPI_File_create_errhandler(on_file, &handler);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, handler);
    MPI_File_get_errhandler(file, &got);
    MPI_Errhandler_free(&got);
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(called == 4);
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);
}

static void of_mpi1(void)
{
    MPI_Errhandler handler, got;

    MPI_Errhandler_create(on_comm, &handler);
    MPI_Errhandler_set(MPI_COMM_WORLD, handler);
    MPI_Errhandler_get(MPI_COMM_WORLD, &got);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

static void own_errors(void)
{
    int class, code, length;
    char text[MPI_MAX_ERROR_STRING];

    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the weather");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "the weather") == 0);
    CHECK(class_of(code) == class);
}

// The outputs of a call that failed are not defined, whatever the variables held.
static void failures(void)
{
    int out[2] = {1, 2}, in[2] = {0, 0}, value = 77, flag;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Request requests[2];
    MPI_Status status, statuses[2];
    MPI_File file;

    CHECK(class_of(MPI_Comm_size(MPI_COMM_NULL, &value)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Send(out, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Recv(in, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, &status)) == MPI_ERR_TYPE);
    CHECK(MPI_Type_contiguous(-3, MPI_INT, &type) != MPI_SUCCESS);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ranks + 1}, (int[]){0}, 0, &comm) != MPI_SUCCESS);
    MPI_File_open(MPI_COMM_SELF, "/no/such/directory/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);

    // A message that is too long: its own receive fails, in a call that completes another one too.
    for (int ignored = 0; ignored < 2; ignored++) {
        MPI_Irecv(&in[0], 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Send(out, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
        MPI_Send(out, 2, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
        int code = MPI_Waitall(2, requests, ignored ? MPI_STATUSES_IGNORE : statuses);
        CHECK(code == MPI_ERR_IN_STATUS);
        if (!ignored)
            CHECK(class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
    }
    MPI_Irecv(in, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(out, 2, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    CHECK(class_of(MPI_Wait(&requests[0], &status)) == MPI_ERR_TRUNCATE);
    MPI_Irecv(in, 1, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(out, 2, MPI_INT, 1 - rank, 4, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    int code = MPI_SUCCESS;
    for (flag = 0; !flag && code == MPI_SUCCESS;)
        code = MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    CHECK(class_of(code) == MPI_ERR_TRUNCATE);
}

int main(void)
{
    begin();
    handlers();
    of_mpi1();
    own_errors();
    failures();
    return end();
}
