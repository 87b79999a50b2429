// Calls MPI on known paths: what cairn_path prints for each must be in the trace. Compiled with -O2
// -fomit-frame-pointer. Lines are given, so that the test can name them.
#include <alloca.h>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE extern "C" __attribute__((noinline, noclone))
static volatile int sink;
static char *volatile escape;

#line 100
NOINLINE void leaf(int tag) {
	MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD); // line 101
	sink++;
}

#line 200
NOINLINE void recurse(int depth, int tag) {
	if (depth > 0)
		recurse(depth - 1, tag); // line 202
	else
		leaf(tag); // line 204
	sink++;
}

// The frame's size varies, with the same stack pointer below it each time: a stale return address may lie in it.
#line 300
NOINLINE void varying(int size, int tag) {
	escape = (char *)alloca(size);
	memset(escape, size, size);
	leaf(tag); // line 303
	sink += escape[0];
}

#line 400
NOINLINE void other(int size, int tag) {
	varying(size, tag); // line 401
	sink++;
}

// AVX-aligned locals: the CFA is found through memory.
#line 500
NOINLINE void aligned(int tag) {
	alignas(64) volatile char local[128];
	local[tag] = 1;
	escape = (char *)alloca(tag + 16);
	escape[0] = 1;
	leaf(tag); // line 505
	sink += local[tag] + escape[0];
}

#line 600
NOINLINE int compare(const void *a, const void *b) {
	leaf(60); // line 601
	return *(const int *)a - *(const int *)b;
}

#line 700
NOINLINE void tail(int tag) {
	leaf(tag + sink * 0); // line 701: a jump, tail is not on the path
#pragma GCC diagnostic ignored "-Wunused-value"
}

#line 800
NOINLINE void thrower(int depth) {
	leaf(80); // line 801
	if (depth == 0)
		throw depth;
	thrower(depth - 1); // line 804
	sink++;
}

#line 900
extern "C" void *thread(void *) {
	leaf(90); // line 901
	sink++;
	return NULL;
}

// The same call sites repeatedly, on different paths: a remembered walk must not be mistaken for another one.
#line 950
NOINLINE void again() {
	for (int i = 0; i < 3; i++) {
		varying(32, 130); // line 952
		other(32, 130); // line 953
		aligned(131); // line 954
	}
	sink++;
}

typedef void (*plugin_function)(int);

#line 1000
int main(int argc, char **argv) {
	int provided;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); // line 1002
	leaf(10); // line 1003
	recurse(3, 20); // line 1004
	recurse(0, 21); // line 1005
	varying(32, 30); // line 1006
	other(32, 31); // line 1007
	varying(4096, 32); // line 1008
	varying(48, 33); // line 1009
	other(16, 34); // line 1010
	aligned(50); // line 1011
	int two[2] = {2, 1};
	qsort(two, 2, sizeof(int), compare); // line 1013
	tail(70); // line 1014
	try {
		thrower(1); // line 1016
	} catch (int) {
		leaf(81); // line 1018
	}
	pthread_t t;
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	for (int i = 0; i < 3; i++)
		leaf(110); // line 1024
	again(); // line 1025
#line 1025
	if (argc > 1) {
		void *library = dlopen(argv[1], RTLD_NOW);
		if (library == NULL) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		((plugin_function)dlsym(library, "from_plugin"))(120); // line 1031
		dlclose(library);
	}
	MPI_Finalize(); // line 1034
	return 0;
}
