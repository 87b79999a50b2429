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
static MPI_Status status;

static const double seconds_4[9] = {0, 0, 0, 0, 0, 0, 0, 0, 9.37e-6};
static const char ranks_5[9] = {0, 0, 0, 0, 1, 1, 0, 1, 1};
static const double seconds_6[9] = {15.3e-6, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 0, 0, 0};
static const double seconds_7[9] = {0, 0, 0, 0, 0, 0, 12.5e-6, 12.5e-6, 0};
static const double seconds_9[9] = {9.37e-6, 0, 0, 0, 0, 0, 0, 0, 0};
static const double seconds_12[9] = {0, 0, 0, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 15.6e-6};
static const char ranks_13[9] = {0, 0, 0, 0, 1, 1, 0, 1, 1};

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
            fprintf(stderr, "this skeleton was recorded on %d ranks and runs on these only: %s\n", RECORDED_RANKS, "a condition names ranks");
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
    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 4; j++) {
            if (rank >= 1 && rank <= 2) {
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, rank - 1, 20, MPI_COMM_WORLD, &status);
            }
            if (rank >= 3) {
                compute(seconds_4[rank % RECORDED_RANKS]);
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, rank - 3, 20, MPI_COMM_WORLD, &status);
            }
            if (ranks_5[rank]) {
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, rank - 1, 20, MPI_COMM_WORLD, &status);
            }
            if (rank <= 5) {
                compute(seconds_6[rank % RECORDED_RANKS]);
                MPI_Send(send_buffer, 1024, MPI_BYTE, rank + 3, 20, MPI_COMM_WORLD);
            }
            if (rank % 3 != 2) {
                compute(seconds_7[rank % RECORDED_RANKS]);
                MPI_Send(send_buffer, 1024, MPI_BYTE, rank + 1, 20, MPI_COMM_WORLD);
            }
        }
        for (int j = 0; j < 4; j++) {
            if (rank <= 5) {
                compute(seconds_9[rank % RECORDED_RANKS]);
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, rank + 3, 50, MPI_COMM_WORLD, &status);
            }
            if (rank % 3 != 2) {
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, rank + 1, 50, MPI_COMM_WORLD, &status);
            }
            if (rank >= 1 && rank <= 2) {
                compute(12.5e-6);
                MPI_Send(send_buffer, 1024, MPI_BYTE, rank - 1, 50, MPI_COMM_WORLD);
            }
            if (rank >= 3) {
                compute(seconds_12[rank % RECORDED_RANKS]);
                MPI_Send(send_buffer, 1024, MPI_BYTE, rank - 3, 50, MPI_COMM_WORLD);
            }
            if (ranks_13[rank]) {
                MPI_Send(send_buffer, 1024, MPI_BYTE, rank - 1, 50, MPI_COMM_WORLD);
            }
        }
    }
    compute(1.39e-6);
    MPI_Allreduce(send_buffer, receive_buffer, 40, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
