#include "launch.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../process/abi.h"

static const char *variable(const char *name)
{
	const char *value = getenv(name);
	return value != NULL ? value : "";
}

// name writes the id. It becomes part of paths and object names, so what a launcher says is
// hashed (FNV-1a).
static void name(char *out, size_t size, const char *kind, const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *text != 0; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	snprintf(out, size, "%s-%016llx", kind, (unsigned long long)h);
}

// by_namespace: PMIx has a namespace for each mpirun and each MPI_Comm_spawn. mpirun's pid in it is
// not unique if mpirun has a PID namespace of its own; so there are Open MPI's random key and, with
// Open MPI 4, mpirun's address. Daemons on other hosts pass all of them on.
static bool by_namespace(char *out, size_t size)
{
	char text[4096];
	if (getenv("PMIX_NAMESPACE") == NULL || getenv("PMIX_RANK") == NULL)
		return false;
	snprintf(text, sizeof(text), "%s|%s|%s", variable("PMIX_NAMESPACE"), variable("OMPI_MCA_orte_hnp_uri"),
		 variable("OMPI_MCA_orte_precondition_transports"));
	name(out, size, "pmix", text);
	return true;
}

// by_step: some launchers number the parallel programs that they start.
static bool by_step(char *out, size_t size)
{
	static const struct {
		const char *step, *within, *rank; // only processes that the launcher started have a rank
	} launchers[] = {
		{"PMI_JOBID", "", "PMI_RANK"}, // Slurm's PMI-2
		{"PALS_APID", "", "PALS_RANKID"},
		{"ALPS_APP_ID", "", "ALPS_APP_PE"},
		{"FLUX_JOB_ID", "", "FLUX_TASK_RANK"},
		{"SLURM_STEP_ID", "SLURM_JOB_ID", "SLURM_PROCID"},
	};
	char text[1024];

	// one process is a world of its own, and a shell may start many
	if (strcmp(variable("PMI_SIZE"), "1") == 0 || strcmp(variable("SLURM_STEP_NUM_TASKS"), "1") == 0)
		return false;
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		if (getenv(launchers[i].step) == NULL || getenv(launchers[i].rank) == NULL)
			continue;
		snprintf(text, sizeof(text), "%s|%s|%s|%s", launchers[i].step, variable(launchers[i].step), variable(launchers[i].within),
			 variable("PMI_SPAWNED"));
		name(out, size, "step", text);
		return true;
	}
	return false;
}

#ifdef CAIRN_OPENMPI

static bool by_launcher(char *out, size_t size)
{
	return by_namespace(out, size) || by_step(out, size);
}

#else

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

// parent returns the parent of a process, 0 if it is not visible.
static int parent(const char *process)
{
	char path[64], stat[1024], *p;
	snprintf(path, sizeof(path), "/proc/%s/stat", process);
	if (read_file(path, stat, sizeof(stat)) <= 0 || (p = strrchr(stat, ')')) == NULL || p[1] == 0)
		return 0;
	return atoi(p + 4); // ") S 123"
}

// by_proxy: a rank is a child of hydra's proxy, or of a shell that the proxy started. The pids are
// those that /proc has, which may be of another PID namespace than getppid's.
static bool by_proxy(char *out, size_t size)
{
	char process[16] = "self";

	// what hydra gives to a rank; without it MPI is alone
	if (getenv("PMI_RANK") == NULL && getenv("PMI_FD") == NULL && getenv("PMI_PORT") == NULL && getenv("MPI_LOCALRANKID") == NULL)
		return false;
	for (int generation = 0; generation < 8; generation++) {
		char path[64], line[4096], text[1024], *port = NULL, *group = NULL;
		int pid = parent(process);
		if (pid <= 1)
			return false;
		snprintf(process, sizeof(process), "%d", pid);
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
			snprintf(text, sizeof(text), "%s|%s", port, group != NULL ? group : "");
			name(out, size, "hydra", text);
			return true;
		}
	}
	return false;
}

static int port_of(int fd, bool listening)
{
	struct sockaddr_storage a;
	socklen_t size = sizeof(a);
	if ((listening ? getsockname : getpeername)(fd, (struct sockaddr *)&a, &size) != 0)
		return 0;
	if (a.ss_family == AF_INET)
		return ntohs(((struct sockaddr_in *)&a)->sin_port);
	return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a)->sin6_port) : 0;
}

// by_connection: where the proxy is not visible, as in a PID namespace of the rank's own, the rank
// still has what the proxy had open when it started the rank: its connection with mpirun's control
// port or, on mpirun's host, where they use a pair of sockets (HYDI_CONTROL_FD), mpirun's own socket
// for that port. The kernel is asked about them; nothing is sent or received.
static bool by_connection(char *out, size_t size)
{
	enum { MOST = 1024 }; // descriptors that are looked at, whatever the variable says
	const bool on_its_host = getenv("HYDI_CONTROL_FD") != NULL;
	char text[128];
	struct stat control;

	if (getenv("PMI_FD") == NULL || getenv("MPI_LOCALRANKID") == NULL)
		return false;
	const int own = atoi(getenv("PMI_FD"));
	for (int fd = own - 1; fd > STDERR_FILENO && own - fd <= MOST; fd--) {
		int listening = 0, port = 0;
		socklen_t length = sizeof(listening);
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0 || (listening != 0) != on_its_host ||
		    (port = port_of(fd, on_its_host)) == 0)
			continue;
		snprintf(text, sizeof(text), "port %d|%s", port, variable("PMI_SPAWNED"));
		name(out, size, "hydra", text);
		return true;
	}
	// (fstat is a symbol of glibc 2.33.)
	if (!on_its_host || syscall(SYS_fstat, atoi(getenv("HYDI_CONTROL_FD")), &control) != 0)
		return false;
	snprintf(text, sizeof(text), "socket %llu", (unsigned long long)control.st_ino);
	name(out, size, "hydra", text);
	return true;
}

static bool by_launcher(char *out, size_t size)
{
	// hydra first: it passes on variables of the launcher that started it
	return by_proxy(out, size) || by_connection(out, size) || by_namespace(out, size) || by_step(out, size);
}

#endif

void cairn_launch_id(char *out, size_t size, const char *directory)
{
	if (!by_launcher(out, size))
		snprintf(out, size, "alone-%s", directory);
}
