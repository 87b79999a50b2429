// Calls before MPI_Init and after MPI_Finalize, also from a constructor.
#include <mpi.h>
#include <stddef.h>

static int before = -1;

__attribute__((constructor)) static void construct(void)
{
	for (int i = 0; i < 30; i++)
		MPI_Initialized(&before);
}

int main(void)
{
	int flag, version, subversion, provided, variables;

	if (before != 0)
		return 80;
	MPI_Get_version(&version, &subversion);
#ifdef OPEN_MPI
	// Open MPI 4.1 crashes when the tool interface is initialized before MPI_Init or finalized after MPI_Finalize.
	MPI_Init(NULL, NULL);
#endif
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_cvar_get_num(&variables);
	// all, and again: more than the first buffer holds
	for (int i = 0; i < 3 * variables; i++) {
		char name[64], text[64];
		int n = sizeof(name), m = sizeof(text), verbosity, binding, scope;
		MPI_Datatype type;
		MPI_T_enum e;
		MPI_T_cvar_get_info(i % variables, name, &n, &verbosity, &type, &e, text, &m, &binding, &scope);
	}
#ifndef OPEN_MPI
	MPI_Init(NULL, NULL);
#endif
	MPI_Initialized(&flag);
#ifdef OPEN_MPI
	MPI_T_finalize();
	MPI_Finalize();
#else
	MPI_Finalize();
	MPI_T_finalize();
#endif
	MPI_Finalized(&flag);
	MPI_Initialized(&flag);
	return flag ? 0 : 81;
}
