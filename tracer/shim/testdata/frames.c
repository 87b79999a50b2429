// Calls MPI on known paths, and as a Fortran program does, on one process. What leaf is called by is named by lines.
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
static volatile int sink;
static char *volatile escape;

void mpi_send_(void *, int *, int *, int *, int *, int *, int *);
void mpi_sendrecv_(void *, int *, int *, int *, int *, void *, int *, int *, int *, int *, int *, int *, int *);

#line 100
NOINLINE static void leaf(int tag) {
	MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD); // line 101
	sink++;
}

#line 200
NOINLINE static void recurse(int depth, int tag) {
	if (depth > 0)
		recurse(depth - 1, tag); // line 202
	else
		leaf(tag); // line 204
	sink++;
}

// The frame's size varies.
#line 300
NOINLINE static void varying(int size, int tag) {
	escape = alloca(size);
	memset(escape, size, size);
	leaf(tag); // line 303
	sink += escape[0];
}

// Aligned locals in a frame whose size varies.
#line 400
NOINLINE static void aligned(int tag) {
	_Alignas(64) volatile char local[128];
	local[tag] = 1;
	escape = alloca(tag + 16);
	escape[0] = 1;
	leaf(tag); // line 405
	sink += local[tag] + escape[0];
}

#line 500
NOINLINE static void large(int tag) {
	volatile char local[200000];
	local[tag] = 1;
	leaf(tag); // line 503
	sink += local[tag];
}

#line 600
static int compare(const void *a, const void *b) {
	leaf(60); // line 601
	return *(const int *)a - *(const int *)b;
}

// Uses all registers, the frame pointer as well.
#line 700
NOINLINE static void busy(int tag) {
	long a[24];
	for (int i = 0; i < 24; i++)
		a[i] = sink + i * tag;
	leaf(tag); // line 704
	for (int i = 0; i < 24; i++)
		sink += (int)a[i];
}

#line 800
static void *thread(void *unused) {
	leaf(80); // line 801
	sink++;
	return unused;
}

#line 900
NOINLINE static int fortran(void) {
	int zero = 0, one = 1, four = 4, type = MPI_INT, comm = MPI_COMM_WORLD, tag = 90, error = 7, out = 11, in = 0, status[5];
	mpi_send_(&out, &one, &type, &zero, &tag, &comm, &error); // line 902
	MPI_Recv(&in, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	mpi_sendrecv_(&in, &one, &type, &zero, &four, &out, &one, &type, &zero, &four, &comm, status, &error); // line 904
	return error != 0 || in != 11 || out != 11;
}

#line 1000
int main(int argc, char **argv) {
	int numbers[] = {2, 1}, bad;
	pthread_t t;
	MPI_Init(&argc, &argv);
	leaf(10); // line 1004
	recurse(3, 20); // line 1005
	varying(1000, 30); // line 1006
	varying(70000, 31); // line 1007
	aligned(40); // line 1008
	large(50); // line 1009
	qsort(numbers, 2, sizeof(numbers[0]), compare); // line 1010
	busy(70); // line 1011
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	bad = fortran(); // line 1014
	MPI_Finalize();
	printf("%d\n", bad);
	return bad;
}
