// Calls MPI past the shim: at addresses from a handle of the MPI library, and from a plugin that
// was loaded with RTLD_DEEPBIND. The plugin is this file with -DPLUGIN. Arguments: the plugin, and
// the number of calls of each kind.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN
void call(int times)
{
	int in = 1, out;
	for (int i = 0; i < times; i++) {
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		// arguments on the stack
		MPI_Sendrecv(&in, 1, MPI_INT, 0, 0, &out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	}
}
#else
static int find(struct dl_phdr_info *info, size_t size, void *name)
{
	(void)size;
	if (strstr(info->dlpi_name, "/libmpi.so") == NULL && strstr(info->dlpi_name, "/libmpich.so") == NULL)
		return 0;
	*(const char **)name = info->dlpi_name;
	return 1;
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	const int times = atoi(argv[2]);
	int rank;
	double t = 0;

	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!dl_iterate_phdr(find, &name))
		return 2;
	void *mpi = dlopen(name, RTLD_NOW), *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	int (*barrier)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(mpi, "MPI_Barrier");
	int (*comm_rank)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(mpi, "PMPI_Comm_rank");
	double (*wtime)(void) = (double (*)(void))dlsym(mpi, "MPI_Wtime");
	void (*call)(int) = (void (*)(int))dlsym(plugin, "call");
	for (int i = 0; i < times; i++) {
		barrier(MPI_COMM_WORLD);
		comm_rank(MPI_COMM_WORLD, &rank);
		t += wtime();
	}
	call(times);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return t < 0;
}
#endif
