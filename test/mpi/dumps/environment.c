// SPDX-License-Identifier: Apache-2.0
// What may be called before MPI_Init and after MPI_Finalize, the tool interface, memory, generalized requests, a parent.
#include <mpi.h>
#include <stddef.h>

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 4;
    status->MPI_TAG = 5;
    return MPI_SUCCESS;
}

static int done(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

int main(void)
{
    int flag, provided;
    void *memory;
    MPI_Comm parent;
    MPI_Request request;

    MPI_Initialized(&flag);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_T_cvar_get_index("no such variable", &flag);
    MPI_T_finalize();
    MPI_Alloc_mem(64, MPI_INFO_NULL, &memory);
    MPI_Free_mem(memory);
    MPI_Comm_get_parent(&parent);
    MPI_Grequest_start(query, done, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Finalize();
    MPI_Finalized(&flag);
    return 0;
}
