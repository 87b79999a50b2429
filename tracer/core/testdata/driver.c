// A process that loads the core as the shim does, passes it buffers, and then does what its third argument says:
//
//	driver LIBRARY DIRECTORY WHAT FUNCTION       DIRECTORY: of the process, in the spool; FUNCTION: of the records
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int (*start)(const char *);
static void *(*next_buffer)(uint32_t, void *, uint64_t, uint64_t *);

static uint64_t *header, *word;
static uint64_t room;
static void *last; // the latest buffer of the core

static int next(void)
{
	last = next_buffer(0, header, 4096, &room);
	if (last == NULL)
		return 0;
	header = last;
	word = header + 512;
	return 1;
}

// A call without inputs: only the function id and the reserved bytes matter.
static int record(unsigned function)
{
	if ((char *)word + 56 > (char *)header + 4096 + room && !next())
		return 0;
	uint32_t *half = (uint32_t *)word;
	half[0] = 56;
	half[1] = function;
	half[2] = 56;
	half[3] = 1;
	word[2] = 3;
	word[3] = 100;
	word[4] = 200;
	word[5] = word[6] = 0;
	word += 7;
	header[3] = (uint64_t)((char *)word - (char *)header) - 4096;
	return 1;
}

static void own_handler(int s)
{
	(void)s;
	_exit(42);
}

// Returns a number of this process's status.
static long status(const char *name)
{
	char line[256];
	long value = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = atol(line + strlen(name));
	if (f != NULL)
		fclose(f);
	return value;
}

// Returns the number of threads that may not run on all CPUs of the main thread.
static int bound_threads(void)
{
	cpu_set_t own, other;
	int n = 0;
	DIR *tasks = opendir("/proc/self/task");

	sched_getaffinity(0, sizeof(own), &own);
	for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
		n += atoi(e->d_name) > 0 && sched_getaffinity(atoi(e->d_name), sizeof(other), &other) == 0 && !CPU_EQUAL(&own, &other);
	if (tasks != NULL)
		closedir(tasks);
	return n;
}

int main(int argc, char **argv)
{
	sigset_t all, mask;
	void *library;
	const char *what = argv[3];
	unsigned function = (unsigned)atoi(argv[4]);

	(void)argc;
	const long resident = status("VmRSS:"), mapped = status("VmSize:");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&start = dlsym(library, "cairn_core_start");
	*(void **)&next_buffer = dlsym(library, "cairn_core_segment");
	if (start(argv[2]) != 0)
		return 2;
	sigprocmask(SIG_SETMASK, &mask, NULL);

	if (!next())
		return 3;
	const int calls = strcmp(what, "memory") == 0 ? 5000000 : 400000;
	for (int i = 0; i < calls; i++)
		if (!record(function))
			return 4;
	if (strcmp(what, "memory") == 0)
		printf("%ld\n", status("VmRSS:") - resident);
	if (strcmp(what, "threads") == 0)
		printf("%ld %d %ld\n", status("Threads:"), bound_threads(), status("VmSize:") - mapped);
	if (strcmp(what, "crash") == 0)
		*(volatile int *)8 = 1;
	if (strcmp(what, "handler") == 0) {
		signal(SIGSEGV, own_handler);
		*(volatile int *)8 = 1;
	}
	if (strcmp(what, "pipe") == 0)
		raise(SIGPIPE);
	if (strcmp(what, "urgent") == 0)
		raise(SIGURG);
	return 0;
}
