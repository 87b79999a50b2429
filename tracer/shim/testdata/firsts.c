// Calls each function of rows.h as the first and only one of its kind in a process of its own, and
// prints how each process ended. `firsts early …` calls them before MPI_Init, `firsts … N` N times:
// what the stack below the call contains differs from time to time, and so may the end if MPI uses a
// variable that it did not set. `firsts … N NAME` calls only this function.
//
// A process per MPI_Init would take minutes. So one process initializes MPI and calls nothing else
// through the tracer, and its children, made by a bare fork, which no handler of the tracer sees, go
// on as if each were it.
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// Handles in Fortran, whose conversion would be a call: constants of mpif.h in Open MPI, and C's
// handles in MPICH.
#ifdef OPEN_MPI
enum { F_MPI_Datatype = 7, F_MPI_Op = 3, F_MPI_Comm = 1, F_MPI_Group = 1, F_MPI_Errhandler = 2, F_NO_MESSAGE = 1 };
#define F_NULL(null) 0
#else
enum { F_MPI_Datatype = (int)MPI_INT, F_MPI_Op = (int)MPI_SUM, F_MPI_Comm = (int)MPI_COMM_SELF,
	F_MPI_Group = (int)MPI_GROUP_EMPTY, F_MPI_Errhandler = (int)MPI_ERRORS_RETURN, F_NO_MESSAGE = (int)MPI_MESSAGE_NO_PROC };
#define F_NULL(null) (long)(null)
#endif
#if MPI_VERSION < 4
typedef void *MPI_Session;
#define MPI_SESSION_NULL NULL
#endif

enum { ARGUMENTS = 24, BYTES = 4096 };
static char scratch[ARGUMENTS][BYTES] __attribute__((aligned(64)));

// How gfortran passes a choice buffer with a descriptor: an array of no elements.
struct descriptor {
	void *base;
	size_t offset, element;
	int version;
	signed char rank, type;
	short attribute;
	long span, stride, lower, upper;
};

static MPI_Comm graph = MPI_COMM_NULL; // without neighbors
static int f_graph;

static int callback(void) { return MPI_SUCCESS; }

struct row {
	const char *name;
	void (*prepare)(long *a);
	int error; // index of the error code that Fortran sets, -1: it is the result, -2: there is none
};

#define VALUE(i, value) a[i] = (long)(value);
#define POINTER(i) a[i] = (long)scratch[i];
#define TEXT(i) memset(scratch[i], 0, 64), strcpy(scratch[i], "name"), a[i] = (long)scratch[i];
#define HANDLES(i, type, value) \
	{ \
		type *h_ = (type *)(void *)scratch[i]; \
		for (int k_ = 0; k_ < 8; k_++) \
			h_[k_] = value; \
		a[i] = (long)h_; \
	}
#define INTEGER(i, value) *(long *)(void *)scratch[i] = (value), a[i] = (long)scratch[i];
#define F_HANDLES(i, value) \
	{ \
		int *h_ = (int *)(void *)scratch[i]; \
		for (int k_ = 0; k_ < 8; k_++) \
			h_[k_] = (int)(value); \
		a[i] = (long)h_; \
	}
#define DESCRIPTOR(i) \
	{ \
		struct descriptor d_ = {scratch[i] + 1024, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0}; \
		memcpy(scratch[i], &d_, sizeof(d_)), a[i] = (long)scratch[i]; \
	}

#include "rows.h"

static void fill_stack(int byte)
{
	volatile char below[32768];
	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = (char)byte;
}

static void child(const struct row *row, int fill)
{
	long a[ARGUMENTS];
	long (*function)(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long,
		long, long, long, long, long, long, long) = dlsym(RTLD_DEFAULT, row->name);

	for (int i = 0; i < ARGUMENTS; i++)
		a[i] = 4; // lengths of strings in Fortran
	row->prepare(a);
	alarm(5);
	fill_stack(fill);
	long result = function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14],
		a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
	if (row->error >= 0)
		result = *(int *)(void *)scratch[row->error];
	_exit(row->error == -2 || (int)result == MPI_SUCCESS ? 0 : 1);
}

// prepare makes what the children need, with libmpi's own functions.
static int prepare(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *base = strrchr(info->dlpi_name, '/');
	const int none = 0;

	if (base == NULL || (strncmp(base, "/libmpi.so", 10) != 0 && strncmp(base, "/libmpich.so", 12) != 0))
		return 0;
	void *libmpi = dlopen(info->dlpi_name, RTLD_LAZY);
	int (*set)(MPI_Comm, MPI_Errhandler) = dlsym(libmpi, "PMPI_Comm_set_errhandler");
	int (*create)(MPI_Comm, int, const int *, const int *, int, const int *, const int *, MPI_Info, int, MPI_Comm *) =
		dlsym(libmpi, "PMPI_Dist_graph_create_adjacent");
	MPI_Fint (*convert)(MPI_Comm) = dlsym(libmpi, "PMPI_Comm_c2f");
	set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	set(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	create(MPI_COMM_SELF, 0, &none, MPI_UNWEIGHTED, 0, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	f_graph = convert != NULL ? (int)convert(graph) : *(int *)(void *)&graph;
	return 1;
}

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	if (strcmp(argv[1], "early") != 0)
		MPI_Init(NULL, NULL), dl_iterate_phdr(prepare, NULL);
	int out = dup(1), silent = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3; i++)
		dup2(silent, i); // MPI prints its errors
	for (const struct row *row = rows; row->name != NULL; row++) {
		if (argc > 3 && strcmp(argv[3], row->name) != 0)
			continue;
		dprintf(out, "%s:", row->name);
		for (int fill = 0; fill < atoi(argv[2]); fill++) {
			int status;
			pid_t pid = (pid_t)syscall(SYS_fork);
			if (pid == 0)
				child(row, fill * 'A');
			waitpid(pid, &status, 0);
			dprintf(out, WIFSIGNALED(status) ? " signal %d" : " exit %d", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		}
		dprintf(out, "\n");
	}
	_exit(0);
}
