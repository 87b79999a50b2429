// SPDX-License-Identifier: Apache-2.0
// A session (MPI 4.0); with an older MPI the program does nothing else.
#include <mpi.h>
#include <stddef.h>

int main(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int size;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Comm_size(comm, &size);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
#else
    MPI_Init(NULL, NULL);
    MPI_Finalize();
#endif
    return 0;
}
