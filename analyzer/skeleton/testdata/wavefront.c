// A performance skeleton: it communicates as the program did that was traced on 9 ranks, and computes for as long.
// PMPI_ calls are the skeleton's own: tools do not see them.
//
// It runs on any number of ranks: the 9 ranks were recognized as a 3 x 3 grid, and peers are neighbors in it.
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

enum { RECORDED_RANKS = 9 };

static int rank, size; // in MPI_COMM_WORLD
static char *send_buffer;
static char *receive_buffer;
static MPI_Status status;

static const double seconds_4[9] = {0, 0, 0, 0, 0, 0, 0, 0, 9.37e-6};
static const double seconds_6[9] = {15.3e-6, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 0, 0, 0};
static const double seconds_7[9] = {0, 0, 0, 0, 0, 0, 12.5e-6, 12.5e-6, 0};
static const double seconds_9[9] = {9.37e-6, 0, 0, 0, 0, 0, 0, 0, 0};
static const double seconds_12[9] = {0, 0, 0, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 12.5e-6, 15.6e-6};

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

static void refuse(const char *why)
{
    if (rank == 0)
        fprintf(stderr, "this skeleton was recorded on %d ranks and cannot run on %d: %s\n", RECORDED_RANKS, size, why);
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

// The grid of the ranks, slowest dimension first, and the caller's place in it.
enum { DIMENSIONS = 2 };
static int dims[DIMENSIONS], place[DIMENSIONS];

// lay_out takes the recorded dimensions, or those of MPI_Dims_create for another number of ranks, or SKELETON_DIMS=4x3.
static void lay_out(void)
{
    static const int recorded[DIMENSIONS] = {3, 3};
    const char *given = getenv("SKELETON_DIMS");
    int product = 1, at = rank, wrong = 0;
    if (size == RECORDED_RANKS)
        memcpy(dims, recorded, sizeof dims);
    else
        PMPI_Dims_create(size, DIMENSIONS, dims);
    for (int i = 0; given != NULL && i < DIMENSIONS; i++) {
        char *end;
        dims[i] = (int)strtol(given, &end, 10);
        wrong = wrong || dims[i] < 1 || *end != (i < DIMENSIONS - 1 ? 'x' : '\0');
        given = *end == 'x' ? end + 1 : end;
    }
    for (int i = DIMENSIONS - 1; i >= 0 && !wrong; i--) {
        product *= dims[i];
        place[i] = at % dims[i];
        at /= dims[i];
    }
    if (wrong || product != size)
        refuse("SKELETON_DIMS must have 2 numbers, as in 4x3, whose product is the number of ranks");
}

// neighbor is the rank some steps away, MPI_PROC_NULL beyond an edge.
static int neighbor(int d0, int d1)
{
    static const int periodic[DIMENSIONS] = {0, 0};
    const int steps[DIMENSIONS] = {d0, d1};
    int to = 0;
    for (int i = 0; i < DIMENSIONS; i++) {
        int x = place[i] + steps[i];
        if (periodic[i])
            x = (x + dims[i]) % dims[i];
        else if (x < 0 || x >= dims[i])
            return MPI_PROC_NULL;
        to = to * dims[i] + x;
    }
    return to;
}

static void prepare(void)
{
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    lay_out();
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
            if (place[0] == 0 && place[1] > 0) {
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, neighbor(0, -1), 20, MPI_COMM_WORLD, &status);
            }
            if (place[0] > 0) {
                compute(seconds_4[rank % RECORDED_RANKS]);
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, neighbor(-1, 0), 20, MPI_COMM_WORLD, &status);
            }
            if (place[0] > 0 && place[1] > 0) {
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, neighbor(0, -1), 20, MPI_COMM_WORLD, &status);
            }
            if (place[0] < dims[0] - 1) {
                compute(seconds_6[rank % RECORDED_RANKS]);
                MPI_Send(send_buffer, 1024, MPI_BYTE, neighbor(1, 0), 20, MPI_COMM_WORLD);
            }
            if (place[1] < dims[1] - 1) {
                compute(seconds_7[rank % RECORDED_RANKS]);
                MPI_Send(send_buffer, 1024, MPI_BYTE, neighbor(0, 1), 20, MPI_COMM_WORLD);
            }
        }
        for (int j = 0; j < 4; j++) {
            if (place[0] < dims[0] - 1) {
                compute(seconds_9[rank % RECORDED_RANKS]);
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, neighbor(1, 0), 50, MPI_COMM_WORLD, &status);
            }
            if (place[1] < dims[1] - 1) {
                MPI_Recv(receive_buffer, 1024, MPI_BYTE, neighbor(0, 1), 50, MPI_COMM_WORLD, &status);
            }
            if (place[0] == 0 && place[1] > 0) {
                compute(12.5e-6);
                MPI_Send(send_buffer, 1024, MPI_BYTE, neighbor(0, -1), 50, MPI_COMM_WORLD);
            }
            if (place[0] > 0) {
                compute(seconds_12[rank % RECORDED_RANKS]);
                MPI_Send(send_buffer, 1024, MPI_BYTE, neighbor(-1, 0), 50, MPI_COMM_WORLD);
            }
            if (place[0] > 0 && place[1] > 0) {
                MPI_Send(send_buffer, 1024, MPI_BYTE, neighbor(0, -1), 50, MPI_COMM_WORLD);
            }
        }
    }
    compute(1.39e-6);
    MPI_Allreduce(send_buffer, receive_buffer, 40, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
