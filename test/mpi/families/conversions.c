// SPDX-License-Identifier: Apache-2.0
// Handles and statuses from C to Fortran and back. What an implementation has as a macro is no call.
#include "family.h"

int main(void)
{
    MPI_Status status, back;
    MPI_Request request;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Info info;
    MPI_Win win;
    MPI_Group group;
    int memory = 7, got = 0;
    MPI_Fint integers[sizeof(MPI_Status) / sizeof(MPI_Fint)];

    begin();
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(message)) == message);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    MPI_Win_free(&win);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    MPI_Irecv(&got, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &request);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(request)) == request);
    MPI_Send(&memory, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Status_c2f(&status, integers);
    MPI_Status_f2c(integers, &back);
    CHECK(back.MPI_TAG == 3 && back.MPI_SOURCE == rank);
    return end();
}
