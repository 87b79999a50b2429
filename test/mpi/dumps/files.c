// SPDX-License-Identifier: Apache-2.0
// A file of each rank: positions of all kinds.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
    int rank, x[2] = {1, 2};
    MPI_File file;
    MPI_Offset at;
    MPI_Status status;
    MPI_Request request;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *name = rank == 0 ? "/tmp/cairn-dump-0" : "/tmp/cairn-dump-1";
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write(file, x, 2, MPI_INT, &status);
    MPI_File_get_position(file, &at);
    MPI_File_seek(file, 4, MPI_SEEK_SET);
    MPI_File_read_all(file, x, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 16, x, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_get_size(file, &at);
    MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at_all_begin(file, 3, x, 1, MPI_INT);
    MPI_File_read_at_all_end(file, x, &status);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
