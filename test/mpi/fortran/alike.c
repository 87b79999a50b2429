// SPDX-License-Identifier: Apache-2.0
// The calls of alike.F90 in C.
#include <mpi.h>
#include <stddef.h>

static int in[2], out[2];
static MPI_Request r[2];

static void start(void)
{
    MPI_Irecv(out, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, &r[0]);
    MPI_Isend(in, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, &r[1]);
}

int main(int argc, char **argv)
{
    int me, n, done, flag, indices[2], key, sources[] = {0}, targets[] = {0};
    void *value;
    MPI_Comm c;
    MPI_Datatype d;
    MPI_Message m;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_SELF, &me);
    start();
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    start();
    for (n = 0; n < 2; n += done)
        MPI_Waitsome(2, r, &done, indices, MPI_STATUSES_IGNORE);
    start();
    for (flag = 0; !flag;)
        MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    start();
    for (n = 0; n < 2; n += done)
        MPI_Testsome(2, r, &done, indices, MPI_STATUSES_IGNORE);
    start();
    MPI_Waitany(2, r, &n, MPI_STATUS_IGNORE);
    MPI_Waitany(2, r, &n, MPI_STATUS_IGNORE);
    start();
    MPI_Testany(2, r, &n, &flag, MPI_STATUS_IGNORE);
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Request_get_status(r[1], &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Sendrecv(in, 1, MPI_INTEGER, 0, 1, out, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 1, MPI_INTEGER, 0, 1, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Isend(in, 1, MPI_INTEGER, 0, 2, MPI_COMM_SELF, &r[0]);
    MPI_Probe(0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Mprobe(0, 2, MPI_COMM_SELF, &m, MPI_STATUS_IGNORE);
    MPI_Mrecv(out, 1, MPI_INTEGER, &m, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(in, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, &r[0]);
    MPI_Recv(out, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Waitall(0, r, MPI_STATUSES_IGNORE);
    MPI_Waitany(0, r, &n, MPI_STATUS_IGNORE);
    MPI_Waitsome(0, r, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Testall(0, r, &flag, MPI_STATUSES_IGNORE);
    MPI_Testany(0, r, &n, &flag, MPI_STATUS_IGNORE);
    MPI_Testsome(0, r, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_free_keyval(&key);
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_free_keyval(&key);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_free_keyval(&key);
    MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_free_keyval(&key);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL);
    MPI_Win_free_keyval(&key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
    MPI_Allreduce(MPI_IN_PLACE, out, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INTEGER, MPI_COMM_SELF);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
    MPI_Comm_free(&c);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 0, sources, MPI_WEIGHTS_EMPTY, 0, targets, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c);
    MPI_Comm_free(&c);
    MPI_Type_contiguous(3, MPI_DOUBLE_PRECISION, &d);
    MPI_Type_commit(&d);
    MPI_Bcast(MPI_BOTTOM, 0, d, 0, MPI_COMM_SELF);
    MPI_Type_free(&d);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Finalize();
    return 0;
}
