// A performance skeleton: it communicates as the program did that was traced on 9 ranks, and computes for as long.
// PMPI_ calls are the skeleton's own: tools do not see them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" // some GCCs take MPICH's MPI_STATUSES_IGNORE for an array
#endif
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORDED_RANKS = 9 };

static int rank, size; // in MPI_COMM_WORLD
static char *send_buffer;
static char *receive_buffer;
static MPI_Status statuses[8];
static MPI_Comm cart_comm;
static MPI_Request requests[8];

static const int request_11[9] = {1, 2, 0, 2, 3, 0, 1, 2, 0};
static const int request_12[9] = {0, 0, 0, 3, 4, 3, 2, 3, 2};
static const int request_13[9] = {2, 3, 2, 4, 5, 4, 0, 0, 0};
static const int request_14[9] = {0, 4, 3, 0, 6, 5, 0, 4, 3};
static const int request_15[9] = {3, 5, 0, 5, 7, 0, 3, 5, 0};
static const int count_5[9] = {4, 6, 4, 6, 8, 6, 4, 6, 4};

static double scale = 1;
static int sleeping;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// compute keeps the CPU busy for a time.
static void compute(double time)
{
    time *= scale;
    if (sleeping) {
        struct timespec t = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};
        nanosleep(&t, NULL);
        return;
    }
    for (double end = seconds() + time; seconds() < end;)
        ;
}

static void prepare(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RECORDED_RANKS) {
        if (rank == 0)
            fprintf(stderr, "this skeleton was recorded on %d ranks and runs on these only: %s\n", RECORDED_RANKS, "dims of MPI_Cart_create at stencil2d.c:20 is a list");
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    size_t before = 0, message = 1024, blocks = (size_t)0 * (size_t)(size + 1);
    size_t bytes = before + (message > blocks ? message : blocks) + 64;
    send_buffer = (char *)calloc(bytes, 1) + before;
    receive_buffer = (char *)calloc(bytes, 1) + before;
    if (getenv("SKELETON_COMPUTE"))
        scale = atof(getenv("SKELETON_COMPUTE"));
    sleeping = getenv("SKELETON_SLEEP") != NULL;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    prepare();
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){3, 3}, (int[]){0, 0}, 0, &cart_comm);
    for (int i = 0; i < 10; i++) {
        if (rank >= 3) {
            MPI_Irecv(receive_buffer, 1024, MPI_BYTE, rank - 3, 1, cart_comm, &requests[0]);
        }
        if (rank <= 5) {
            MPI_Irecv(receive_buffer, 1024, MPI_BYTE, rank + 3, 0, cart_comm, &requests[rank / 3]);
        }
        if (rank % 3 != 0) {
            MPI_Irecv(receive_buffer, 1024, MPI_BYTE, rank - 1, 3, cart_comm, &requests[rank >= 4 && rank <= 5 ? 2 : 1]);
        }
        if (rank % 3 != 2) {
            MPI_Irecv(receive_buffer, 1024, MPI_BYTE, rank + 1, 2, cart_comm, &requests[request_11[rank]]);
        }
        if (rank >= 3) {
            MPI_Isend(send_buffer, 1024, MPI_BYTE, rank - 3, 0, cart_comm, &requests[request_12[rank]]);
        }
        if (rank <= 5) {
            MPI_Isend(send_buffer, 1024, MPI_BYTE, rank + 3, 1, cart_comm, &requests[request_13[rank]]);
        }
        if (rank % 3 != 0) {
            MPI_Isend(send_buffer, 1024, MPI_BYTE, rank - 1, 2, cart_comm, &requests[request_14[rank]]);
        }
        if (rank % 3 != 2) {
            MPI_Isend(send_buffer, 1024, MPI_BYTE, rank + 1, 3, cart_comm, &requests[request_15[rank]]);
        }
        compute(100e-6);
        MPI_Waitall(count_5[rank], requests, statuses);
    }
    MPI_Allreduce(send_buffer, receive_buffer, 8, MPI_BYTE, MPI_SUM, cart_comm);
    MPI_Finalize();
    return 0;
}
