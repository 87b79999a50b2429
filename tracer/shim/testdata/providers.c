// Passes functions of libraries to MPI that are loaded after MPI_Init, one after the other: the second one usually gets
// the addresses of the first.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static void *function(void *library, const char *name)
{
	return dlsym(library, name);
}

static int use(const char *path)
{
	int one = 1, sum, ranks, key;
	MPI_Op op;
	MPI_Comm dup;
	MPI_Errhandler handler;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 80;
	}
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Op_create((MPI_User_function *)function(library, "add"), 1, &op);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	if (sum != ranks)
		return 81;
	MPI_Comm_create_keyval((MPI_Comm_copy_attr_function *)function(library, "copy"),
			       (MPI_Comm_delete_attr_function *)function(library, "delete"), &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &one);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)function(library, "handle"), &handler);
	MPI_Comm_set_errhandler(dup, handler);
	MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
	MPI_Comm_free(&dup);
	MPI_Errhandler_free(&handler);
	MPI_Comm_free_keyval(&key);
	return dlclose(library) == 0 ? 0 : 82;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 1; i < argc; i++) {
		int failed = use(argv[i]);
		if (failed != 0)
			return failed;
	}
	MPI_Finalize();
	return 0;
}
