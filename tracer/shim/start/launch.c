#include "launch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../process/abi.h"

// The name becomes part of paths and object names, so an identifier with arbitrary content is
// hashed (FNV-1a).
static uint64_t hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *s != 0; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

static ssize_t read_file(const char *path, char *out, size_t size)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, out, size - 1);
	if (file >= 0)
		close(file);
	if (n >= 0)
		out[n] = 0;
	return n;
}

static void alone(char *out, size_t size, const char *hostname)
{
	// A world of its own, without an mpirun. The pid alone would repeat in the next container.
	char stat[4096] = "";
	unsigned long long started = 0;
	if (read_file("/proc/self/stat", stat, sizeof(stat)) > 0) {
		char *p = strrchr(stat, ')');
		for (int field = 2; p != NULL && field < 22; field++)
			p = strchr(p + 1, ' ');
		if (p != NULL)
			started = strtoull(p, NULL, 10);
	}
	snprintf(out, size, "alone-%s-%d-%llx", hostname, (int)getpid(), started);
}

#ifdef CAIRN_OPENMPI

void cairn_launch_id(char *out, size_t size, const char *hostname)
{
	const char *space = getenv("PMIX_NAMESPACE");
	const char *hnp = getenv("OMPI_MCA_orte_hnp_uri");
	char joined[8192];

	// If mpirun has daemons on other nodes it is not the parent of all ranks, but all of them have
	// its URI (Open MPI 4). From Open MPI 5 on the name space contains mpirun's host and pid.
	if (space == NULL || getenv("PMIX_RANK") == NULL) {
		alone(out, size, hostname);
		return;
	}
	snprintf(joined, sizeof(joined), "%s|%s", space, hnp != NULL ? hnp : "");
	snprintf(out, size, "ompi-%016llx", (unsigned long long)hash(joined));
}

#else

// parent returns the parent of a process, 0 if it is not visible.
static int parent(int pid)
{
	char path[64], stat[4096];
	char *p;
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, stat, sizeof(stat)) <= 0 || (p = strrchr(stat, ')')) == NULL || p[1] == 0)
		return 0;
	return atoi(p + 4); // ") S 123"
}

void cairn_launch_id(char *out, size_t size, const char *hostname)
{
	// A rank is a child of hydra's proxy, or of a shell that the proxy started.
	int pid = getppid();

	for (int generation = 0; pid > 1 && generation < 8; generation++, pid = parent(pid)) {
		static char line[65536];
		char path[64], joined[1024], *port = NULL, *group = NULL;
		snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
		ssize_t n = read_file(path, line, sizeof(line));
		for (char *a = line; n > 0 && a < line + n; a += strlen(a) + 1) {
			char *next = a + strlen(a) + 1;
			if (next >= line + n)
				break;
			if (strcmp(a, "--control-port") == 0)
				port = next;
			else if (strcmp(a, "--pgid") == 0)
				group = next;
		}
		if (port != NULL) {
			// host:port, with the host's name on mpirun's node
			snprintf(joined, sizeof(joined), "%s|%s", port, group != NULL ? group : "");
			snprintf(out, size, "hydra-%016llx", (unsigned long long)hash(joined));
			return;
		}
	}
	alone(out, size, hostname);
}

#endif
