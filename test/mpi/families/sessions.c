// SPDX-License-Identifier: Apache-2.0
// Sessions (MPI 4.0): without MPI_Init there is no MPI_COMM_WORLD.
#include "family.h"

#if MPI_VERSION >= 4
static int called;

static void on_error(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
    called++;
}

int main(void)
{
    MPI_Session session;
    MPI_Errhandler handler, got;
    MPI_Info info;
    MPI_Group group, world;
    MPI_Comm comm, single, inter;
    int n, length, flag, sum, one = 1;
    char name[MPI_MAX_PSET_NAME_LEN], value[64];

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_create_errhandler(on_error, &handler); // MPI 4.0 has it before, too; MPICH 4.0 does not
    MPI_Session_set_errhandler(session, handler);
    MPI_Session_get_errhandler(session, &got);
    MPI_Errhandler_free(&got);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(called == 1);
    MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    MPI_Session_get_info(session, &info);
    MPI_Info_free(&info);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
    CHECK(n >= 2);
    length = 0;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL);
    CHECK(length > 0);
    length = sizeof name;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    CHECK(strcmp(name, "mpi://WORLD") == 0);
    MPI_Session_get_pset_info(session, name, &info);
    length = sizeof value;
    MPI_Info_get_string(info, "size", &length, value, &flag);
    MPI_Info_free(&info);

    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Group_size(world, &ranks);
    MPI_Group_rank(world, &rank);
    MPI_Comm_create_from_group(world, "org.cairn.families", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == ranks);

    int there = 1 - rank;
    MPI_Group other;
    MPI_Group_incl(world, 1, &rank, &group);
    MPI_Group_incl(world, 1, &there, &other);
    MPI_Comm_create_from_group(group, "org.cairn.one", MPI_INFO_NULL, MPI_ERRORS_RETURN, &single);
    MPI_Intercomm_create_from_groups(group, 0, other, 0, "org.cairn.two", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter);
    MPI_Comm_remote_size(inter, &n);
    CHECK(n == 1);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&single);
    MPI_Group_free(&other);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_disconnect(&comm);
    MPI_Session_finalize(&session);
    CHECK(session == MPI_SESSION_NULL);
    print_calls();
    return wrong;
}
#else
int main(void)
{
    begin();
    return end();
}
#endif
