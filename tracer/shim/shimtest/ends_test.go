//go:build mpi

package shimtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// ends.c ends in the way given by its argument.
const ends = `
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <errno.h>
int main(int argc, char **argv)
{
	int rank, flag;
	const char *how = argv[1];
	MPI_Initialized(&flag);
	if (flag) return 90;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 100; i++)
		MPI_Initialized(&flag);
	if (!strcmp(how, "segv")) *(volatile int *)0 = 1;
	if (!strcmp(how, "bus")) raise(SIGBUS);
	if (!strcmp(how, "abort")) abort();
	if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
	if (!strcmp(how, "term")) kill(getpid(), SIGTERM);
	if (!strcmp(how, "pipe")) { int p[2]; pipe(p); close(p[0]); write(p[1], "x", 1); return 91; }
	if (!strcmp(how, "exit")) exit(7);
	if (!strcmp(how, "fork")) {
		pid_t child = fork();
		if (child == 0) { for (int i = 0; i < 100; i++) MPI_Initialized(&flag); _exit(12); }
		int status;
		if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 12) return 92;
		if (system("exit 13") >> 8 != 13) return 93;
		// Open MPI has a daemon as a child of a single process; otherwise there is nobody left to wait for.
		printf("another child: %d\n", waitpid(-1, &status, __WALL | WNOHANG) == 0);
	}
	if (!strcmp(how, "handlers")) {
		for (int s = 1; s < 32; s++) {
			struct sigaction a;
			if (sigaction(s, NULL, &a) == 0 && a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN)
				printf("signal %d has a handler\n", s);
		}
	}
	MPI_Finalize();
	MPI_Finalized(&flag);
	return flag ? 4 : 95;
}
`

// A program ends in the same way whether it is traced or not, even if the tracer
// cannot work at all.
func TestEndsAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "ends.c")
	require.NoError(t, os.WriteFile(source, []byte(ends), 0o644))
	programs := CompileForAll(t, source)
	for i, how := range []string{"segv", "bus", "abort", "kill", "term", "pipe", "exit", "fork", "handlers", "normal"} {
		for _, implementation := range ImplementationsOf(i) {
			program := programs[implementation]
			t.Run(implementation+"/"+how, func(t *testing.T) {
				plain := Run(t, nil, program, how)
				for name, setUp := range map[string]func(*Tracer){
					"traced":    func(*Tracer) {},
					"no config": func(tr *Tracer) { require.NoError(t, os.Remove(filepath.Join(tr.Dir, "config.json"))) },
					"bad config": func(tr *Tracer) {
						require.NoError(t, os.WriteFile(filepath.Join(tr.Dir, "config.json"), []byte("{]"), 0o644))
					},
					"no spool":     func(tr *Tracer) { require.NoError(t, os.Remove(filepath.Join(tr.Dir, "spool"))) },
					"switched off": func(tr *Tracer) { tr.Configure(t, map[string]any{"enabled": false}) },
				} {
					tracer := NewTracer(t, map[string]any{"verify": true, "call_sites": "caller"})
					setUp(tracer)
					traced := tracer.Run(t, program, how)
					require.Equal(t, plain.Code, traced.Code, "%s: %s", name, traced.Stderr)
					require.Equal(t, plain.Signal, traced.Signal, "%s: %s", name, traced.Stderr)
					require.Equal(t, plain.Stdout, traced.Stdout, name)
					if name == "traced" {
						require.Len(t, tracer.Processes(t), 1)
					} else {
						require.Empty(t, tracer.Processes(t), name)
					}
				}
			})
		}
	}
}
