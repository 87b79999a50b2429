// SPDX-License-Identifier: Apache-2.0
// Dynamic processes: spawned ones, ports, names that are published, two processes joined over a socket. Two ranks, which
// start two more of the same program, and two again.
#include "family.h"

static void child(MPI_Comm parent)
{
    MPI_Comm merged;
    int n;

    MPI_Comm_remote_size(parent, &n);
    CHECK(n == 2);
    MPI_Intercomm_merge(parent, 1, &merged);
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, merged);
    CHECK(n == 8);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&parent);
}

static void together(MPI_Comm inter)
{
    MPI_Comm merged;
    int n = 2;

    MPI_Intercomm_merge(inter, 0, &merged);
    MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_SUM, merged);
    CHECK(n == 8);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&inter);
}

static void spawned(char *program)
{
    MPI_Comm inter;
    int codes[2], counts[2] = {1, 1};
    char *arguments[] = {"child", NULL}, *commands[] = {program, program};
    char **lists[] = {arguments, MPI_ARGV_NULL};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};

    if (MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS) {
        CHECK(codes[1] == MPI_SUCCESS);
        together(inter);
    }
    int code;
    if (rank == 0)
        code = MPI_Comm_spawn_multiple(2, commands, lists, counts, infos, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    else // significant at the root only
        code = MPI_Comm_spawn_multiple(0, NULL, NULL, NULL, NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
    if (code == MPI_SUCCESS)
        together(inter);
}

static void ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    int size, code;

    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        // There may be no name server; that is no matter here.
        if (MPI_Publish_name("cairn-families", MPI_INFO_NULL, port) == MPI_SUCCESS) {
            CHECK(MPI_Lookup_name("cairn-families", MPI_INFO_NULL, found) == MPI_SUCCESS);
            CHECK(strcmp(port, found) == 0);
        } else {
            MPI_Lookup_name("cairn-families", MPI_INFO_NULL, found);
        }
        MPI_Unpublish_name("cairn-families", MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        code = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    } else {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    }
    if (code == MPI_SUCCESS) {
        MPI_Comm_remote_size(inter, &size);
        CHECK(size == 1);
        MPI_Comm_disconnect(&inter);
    }
    if (rank == 0)
        MPI_Close_port(port);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent);
        MPI_Finalize();
        return wrong;
    }
    // MPICH over UCX can do none of this; then the calls fail, and the trace says so.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    spawned(argv[0]);
    ports();
    return end();
}
