// SPDX-License-Identifier: Apache-2.0
// Initialization, inquiry, memory, time, tool control.
#include "family.h"

int main(int argc, char **argv)
{
    int flag, provided, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], name[MPI_MAX_PROCESSOR_NAME];

    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Finalized(&flag);
    CHECK(!flag);
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0); // Open MPI counts the terminating 0
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Query_thread(&version);
    CHECK(version == provided);
    MPI_Is_thread_main(&flag);
    CHECK(flag);
    MPI_Get_processor_name(name, &length);
    CHECK((int)strlen(name) == length);
    double start = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1);
    CHECK(MPI_Wtime() >= start);

    double *memory;
    MPI_Aint address, other;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Alloc_mem(8 * sizeof(double), info, &memory);
    MPI_Info_free(&info);
    MPI_Get_address(memory, &address);
    MPI_Get_address(&memory[1], &other);
    CHECK(MPI_Aint_diff(other, address) == sizeof(double));
    CHECK(MPI_Aint_add(address, sizeof(double)) == other);
    MPI_Address(memory, &other);
    CHECK(other == address);
    MPI_Free_mem(memory);

    MPI_Pcontrol(1);
    MPI_Pcontrol(100, "a marker");
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    print_calls();
    return wrong;
}
