// An MPI that moves nothing: each call prints its name and whom it is for, and each rank runs by itself, one after the other.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status;

enum { MPI_VERSION_4, MPI_COMM_WORLD, MPI_BYTE, MPI_SUM, MPI_PROC_NULL = -1 };
#define MPI_VERSION 4
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)

static int stub_rank, stub_size;

#define CALL static __attribute__((unused)) int

CALL PMPI_Comm_rank(MPI_Comm comm, int *rank) { return (void)comm, *rank = stub_rank, 0; }
CALL PMPI_Comm_size(MPI_Comm comm, int *size) { return (void)comm, *size = stub_size, 0; }
CALL PMPI_Abort(MPI_Comm comm, int code) { return (void)comm, exit(code), 0; }

// The most even of all ways to write n as a product, the largest factor first.
CALL PMPI_Dims_create(int n, int d, int *dims)
{
    int best = n + 1;
    for (int a = 1; a <= n; a++)
        for (int b = 1; b <= a; b++) {
            int c = d == 3 ? n / a / b : 1;
            int least = d == 3 ? c : b;
            if (a * b * c == n && c <= b && a - least < best) {
                best = a - least;
                dims[0] = a, dims[1] = b;
                if (d == 3)
                    dims[2] = c;
            }
        }
    return 0;
}

CALL MPI_Init(int *argc, char ***argv) { return (void)argc, (void)argv, puts("MPI_Init"), 0; }
CALL MPI_Finalize(void) { return puts("MPI_Finalize"), 0; }

CALL MPI_Cart_create(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *out)
{
    (void)comm, (void)periods, (void)reorder, *out = 7;
    printf("MPI_Cart_create");
    for (int i = 0; i < n; i++)
        printf(" %d", dims[i]);
    return puts(""), 0;
}

CALL MPI_Send(void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    return (void)b, (void)t, (void)c, printf("MPI_Send to %d tag %d count %d\n", to, tag, n), 0;
}

CALL MPI_Isend(void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r)
{
    return (void)b, (void)t, (void)c, *r = 1, printf("MPI_Isend to %d tag %d count %d\n", to, tag, n), 0;
}

CALL MPI_Recv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s)
{
    return (void)b, (void)t, (void)c, (void)s, printf("MPI_Recv from %d tag %d count %d\n", from, tag, n), 0;
}

CALL MPI_Irecv(void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r)
{
    return (void)b, (void)t, (void)c, *r = 1, printf("MPI_Irecv from %d tag %d count %d\n", from, tag, n), 0;
}

CALL MPI_Sendrecv(void *a, int n, MPI_Datatype t, int to, int sent, void *b, int m, MPI_Datatype u, int from, int got, MPI_Comm c, MPI_Status *s)
{
    (void)a, (void)t, (void)b, (void)m, (void)u, (void)got, (void)c, (void)s;
    return printf("MPI_Sendrecv to %d from %d tag %d count %d\n", to, from, sent, n), 0;
}

CALL MPI_Waitall(int n, MPI_Request *r, MPI_Status *s)
{
    int active = 0;
    for (int i = 0; i < n; i++) {
        active += r[i];
        r[i] = 0;
    }
    return (void)s, printf("MPI_Waitall %d of %d\n", active, n), 0;
}

CALL MPI_Allreduce(void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    return (void)a, (void)b, (void)t, (void)o, (void)c, printf("MPI_Allreduce count %d\n", n), 0;
}

CALL run(int (*program)(void), int ranks)
{
    stub_size = ranks;
    for (stub_rank = 0; stub_rank < ranks; stub_rank++) {
        int status = 0;
        fflush(stdout);
        if (fork() == 0) {
            printf("rank %d\n", stub_rank);
            exit(program());
        }
        wait(&status);
        if (status != 0)
            return 1;
    }
    return 0;
}
