//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program that takes something from itself after MPI_Init, as sandboxes and servers do, and then
// makes calls that fill the buffers that are used again more than once. It pauses, so that the
// compressor can keep up.
const deprived = `
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int limit(int resource, rlim_t most)
{
	struct rlimit l = {most, most};
	return setrlimit(resource, &l);
}

// Three system calls are not permitted.
static int sandbox(int a, int b, int c)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, a, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, b, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, c, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int deprive(const char *what)
{
	if (!strcmp(what, "descriptors"))
		return limit(RLIMIT_NOFILE, 0);
	if (!strcmp(what, "file size"))
		return limit(RLIMIT_FSIZE, 0);
	if (!strcmp(what, "address space"))
		return limit(RLIMIT_AS, 0);
	if (!strcmp(what, "root"))
		return chroot("/proc/self/fdinfo") || chdir("/");
	if (!strcmp(what, "user"))
		return setresuid(65534, 65534, 65534);
	if (!strcmp(what, "sandbox"))
		return sandbox(SYS_openat, SYS_open, SYS_mmap);
	if (!strcmp(what, "other memory"))
		return sandbox(SYS_process_vm_readv, SYS_process_vm_writev, SYS_madvise);
	if (!strcmp(what, "umask"))
		umask(0777);
	return 0;
}

int main(int argc, char **argv)
{
	static char a[100], b[100];
	MPI_Init(&argc, &argv);
	usleep(500000);
	if (deprive(argv[1]) != 0) {
		perror(argv[1]);
		return 9;
	}
	for (int i = 0; i < 100000; i++) {
		MPI_Sendrecv(a, i % 97, MPI_CHAR, 0, i % 30000, b, 100, MPI_CHAR, 0, i % 30000, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		if (i % 4000 == 0)
			usleep(100000);
	}
	printf("done\n");
	fflush(stdout);
	_exit(6); // MPI_Finalize may need what it has lost
}
`

// Whatever a process loses after MPI_Init, its calls are recorded: all record buffers are mapped
// then. The compressor keeps up, or full ones would have to be copied to files.
func TestNothingIsNeededAfterInit(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "deprived.c")
	require.NoError(t, os.WriteFile(source, []byte(deprived), 0o644))
	programs := shimtest.CompileForAll(t, source)
	for _, loss := range []string{"nothing", "descriptors", "file size", "address space", "root", "user", "sandbox", "other memory", "umask"} {
		for _, implementation := range shimtest.Implementations {
			t.Run(loss+"/"+implementation, func(t *testing.T) {
				t.Parallel()
				tracer := shimtest.NewTracer(t, map[string]any{"call_sites": "none"})
				if implementation == "mpich" { // the other one has its buffers on a disk
					linked(t, tracer, mountTmpfs(t, 4*ringBytes))
				}
				r := tracer.Run(t, programs[implementation], loss)
				require.Equal(t, 6, r.Code, r.Stderr)
				require.Equal(t, "done\n", r.Stdout)
				require.Empty(t, r.Stderr)
				_, report, err := spool.Recover(tracer.Processes(t)[0])
				require.NoError(t, err)
				require.EqualValues(t, 100001, report.Calls)
				require.Zero(t, report.Lost)
			})
		}
	}
}
