// SPDX-License-Identifier: Apache-2.0
// MPI_Comm_join: two processes that have a socket between them. Two ranks.
#include "family.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int connected(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int s = socket(AF_INET, SOCK_STREAM, 0), other;

    if (rank == 0) {
        if (bind(s, (struct sockaddr *)&address, size) != 0 || listen(s, 1) != 0 || getsockname(s, (struct sockaddr *)&address, &size) != 0)
            return -1;
        MPI_Send(&address, sizeof address, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        other = accept(s, NULL, NULL);
        close(s);
        return other;
    }
    MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return connect(s, (struct sockaddr *)&address, size) == 0 ? s : -1;
}

int main(void)
{
    MPI_Comm inter;
    int size;

    begin();
    int s = connected();
    CHECK(s >= 0);
    // MPICH over UCX cannot.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Comm_join(s, &inter) == MPI_SUCCESS && inter != MPI_COMM_NULL) {
        MPI_Comm_remote_size(inter, &size);
        CHECK(size == 1);
        MPI_Comm_disconnect(&inter);
    }
    close(s);
    return end();
}
