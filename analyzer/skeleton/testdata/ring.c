// A performance skeleton: it communicates as the program did that was traced on 8 ranks, and computes for as long.
// PMPI_ calls are the skeleton's own: tools do not see them.
//
// It runs on any number of ranks: what differs from rank to rank is a function of rank and size.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow" // some GCCs take MPICH's MPI_STATUSES_IGNORE for an array
#endif
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// PMPI_ calls are not to be recorded by Cairn either.
static const struct {
    unsigned name_size, size, type;
    char name[8];
} hidden_calls __attribute__((section(".note.cairn"), aligned(4), used)) = {6, 0, 1, "Cairn"};

enum { RECORDED_RANKS = 8 };

static int rank, size; // in MPI_COMM_WORLD
static char *send_buffer;
static char *receive_buffer;
static MPI_Status status;

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
    size_t before = 0, message = 1024, blocks = (size_t)1024 * (size_t)(size + 1);
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
        compute(100e-6);
        MPI_Sendrecv(send_buffer, 1024, MPI_BYTE, (rank + 1) % size, 0, receive_buffer, 1024, MPI_BYTE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &status);
    }
    MPI_Finalize();
    return 0;
}
