//go:build mpi

package verify

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A program that makes many calls, as many as its argument says, and prints the number of its
// threads then, and the result. Before MPI_Finalize it waits for a file whose name matches the
// environment's AWAIT, if that is set.
const brief = `
#include <dirent.h>
#include <glob.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	int n = 0;
	for (struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;)
		n += e->d_name[0] != '.';
	if (tasks != NULL)
		closedir(tasks);
	return n;
}
static int work(int n)
{
	int sum = 0, one = 1, got = 0;
	for (int i = 0; i < n; i++) {
		MPI_Request r[2];
		MPI_Irecv(&got, 1, MPI_INT, 0, i % 5, MPI_COMM_SELF, &r[0]);
		MPI_Isend(&one, 1, MPI_INT, 0, i % 5, MPI_COMM_SELF, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		MPI_Allreduce(&got, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
		sum += one;
	}
	return sum;
}
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int sum = work(argc > 1 ? atoi(argv[1]) : 1000), n = threads();
	const char *await = getenv("AWAIT");
	for (glob_t found; await != NULL && glob(await, 0, NULL, &found) != 0;)
		usleep(1000);
	MPI_Finalize();
	if (argc > 1)
		printf("%d threads, ", n);
	printf("sum %d\n", sum);
	return 6;
}
`

func compileBrief(t *testing.T, implementation string) string {
	t.Helper()
	source := filepath.Join(t.TempDir(), "brief.c")
	require.NoError(t, os.WriteFile(source, []byte(brief), 0o644))
	return shimtest.Compile(t, implementation, source)
}

// However many calls a process makes, it has no thread more than without us, and the trace is the
// same whether a compressor was there or not.
func TestProcessHasNoThreadMore(t *testing.T) {
	const calls = 40_000 // of each of four functions: more than a checkpoint's worth
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := compileBrief(t, implementation)
			plain := shimtest.Run(t, nil, program, fmt.Sprint(calls))
			var threads, sum int
			_, err := fmt.Sscanf(plain.Stdout, "%d threads, sum %d", &threads, &sum)
			require.NoError(t, err, plain.Stdout)
			run := func(alone bool) string {
				tracer := shimtest.NewTracer(t, map[string]any{})
				tracer.Alone = alone
				if !alone { // a process that ends early leaves its records to whoever recovers it
					t.Setenv("AWAIT", filepath.Join(tracer.Dir, "spool", "*", "state-0"))
				}
				r := tracer.Run(t, program, fmt.Sprint(calls))
				require.Equal(t, fmt.Sprintf("%d threads, sum %d\n", threads, sum), r.Stdout)
				require.Equal(t, 6, r.Code, r.Stderr)
				require.NotContains(t, r.Stderr, "cairn")
				directories := tracer.Processes(t)
				require.Len(t, directories, 1)
				return directories[0]
			}
			want, report, err := spool.Recover(run(true))
			require.NoError(t, err)
			require.False(t, report.Checkpoint)
			got, report, err := spool.Recover(run(false))
			require.NoError(t, err)
			require.True(t, report.Checkpoint)
			require.Equal(t, want.Signatures, got.Signatures)
			require.Equal(t, want.Grammar, got.Grammar)
			require.Equal(t, want.Sequences, got.Sequences)
			require.Equal(t, want.Communicators, got.Communicators)
			require.Equal(t, want.Sites, got.Sites)
			require.NotEmpty(t, got.Ranks.At(0).Context)
			require.NotEmpty(t, want.Ranks.At(0).Context)
		})
	}
}

// A program that limits its free address space after MPI_Init, and then makes many calls.
const narrow = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
	char line[256];
	unsigned long kib = 0;
	int one = 1, sum = 0;
	MPI_Init(&argc, &argv);
	FILE *f = fopen("/proc/self/status", "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "VmSize: %lu", &kib);
	if (f != NULL)
		fclose(f);
	struct rlimit room = {(kib << 10) + strtoul(argv[1], NULL, 10), RLIM_INFINITY};
	if (kib == 0 || setrlimit(RLIMIT_AS, &room) != 0)
		return 1;
	for (int i = 0; i < 50000; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	kib = 0;
	f = fopen("/proc/self/maps", "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		kib += strstr(line, ".seg") != NULL;
	if (f != NULL)
		fclose(f);
	MPI_Finalize();
	printf("%lu buffers are mapped\n", kib);
	return 6;
}
`

// Where the address space is limited all calls are still recorded, and full buffers are not kept in
// memory. Where no buffer can be mapped any more, full ones are copied to files.
func TestLittleAddressSpace(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "narrow.c")
	require.NoError(t, os.WriteFile(source, []byte(narrow), 0o644))
	for i, room := range []int{300 << 20, 300 << 20, 300 << 10, 300 << 10} {
		implementation := shimtest.Implementations[i%2]
		t.Run(fmt.Sprint(implementation, "/", room), func(t *testing.T) {
			tracer := shimtest.NewTracer(t, map[string]any{"verify": true, "segment_bytes": 8192})
			tracer.Alone = true
			r := tracer.Run(t, shimtest.Compile(t, implementation, source), fmt.Sprint(room))
			require.Equal(t, 6, r.Code, r.Stderr)
			require.NotContains(t, r.Stderr, "cairn")
			var mapped int
			_, err := fmt.Sscanf(r.Stdout, "%d buffers", &mapped)
			require.NoError(t, err, r.Stdout)
			require.Less(t, mapped, 100)
			directories := tracer.Processes(t)
			require.Len(t, directories, 1)
			result, err := Compare(open(t, directories), directories)
			require.NoError(t, err)
			require.Empty(t, result.Disagreements)
			_, report, err := spool.Recover(directories[0])
			require.NoError(t, err)
			require.Greater(t, report.Buffers, 90)
			require.Empty(t, report.EndedEarly)
		})
	}
}

// A startCall is a system call of the shim's start: the nth call of its name in the thread
// that calls MPI_Init.
type startCall struct {
	name string
	n    int
	text string
}

// startCalls returns the system calls from the creation of the process's directory to
// that of the thread.
func startCalls(t *testing.T, program string, environment []string) (calls []startCall) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "strace")
	r := shimtest.Run(t, nil, straced(out, nil, program, environment)...)
	require.Equal(t, 6, r.Code, r.Stderr)
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	seen, begun := map[string]int{}, false
	for line := range strings.Lines(string(b)) {
		m := regexp.MustCompile(`^([a-z0-9_]+)\((.*)`).FindStringSubmatch(line)
		if m == nil {
			continue
		}
		seen[m[1]]++
		begun = begun || m[1] == "mkdir" && strings.Contains(line, "/spool/")
		if begun {
			calls = append(calls, startCall{m[1], seen[m[1]], strings.TrimSpace(m[2])})
		}
		if begun && m[1] == "mmap" && strings.Contains(line, "MAP_SHARED") && strings.Contains(last(calls, "openat"), ".seg") {
			return calls
		}
	}
	t.Fatal("the start has no end: ", string(b))
	return nil
}

func last(calls []startCall, name string) (text string) {
	for _, c := range calls {
		if c.name == name {
			text = c.text
		}
	}
	return text
}

// straced returns the command that runs a program under strace, which may inject faults into
// its system calls.
func straced(out string, inject []string, program string, environment []string) []string {
	command := append([]string{"strace", "-o", out}, inject...)
	for _, e := range environment {
		command = append(command, "-E", e)
	}
	return append(command, program)
}

// A process that is killed at any system call of its start leaves nothing, or what can be
// recovered. If one of these calls fails the program does not notice, and at most one
// line is printed.
func TestEveryStepOfTheStart(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("strace")
	require.NoError(t, err, "hack/install.sh base installs it")
	const implementation = "mpich"
	program := compileBrief(t, implementation)
	plain := shimtest.Run(t, nil, program)
	tracer := shimtest.NewTracer(t, map[string]any{})
	environment := []string{"LD_PRELOAD=" + tracer.Preload()}
	calls := startCalls(t, program, environment)
	require.Greater(t, len(calls), 20)
	inject := func(c startCall, what string) (shimtest.Result, []string) {
		require.NoError(t, os.RemoveAll(filepath.Join(tracer.Dir, "spool")))
		require.NoError(t, os.Mkdir(filepath.Join(tracer.Dir, "spool"), 0o700))
		filter := []string{"-e", "trace=" + c.name, "-e", fmt.Sprintf("inject=%s:%s:when=%d", c.name, what, c.n)}
		r := shimtest.Run(t, nil, straced("/dev/null", filter, program, environment)...)
		return r, tracer.Processes(t)
	}
	for _, c := range calls {
		t.Run(fmt.Sprintf("%s/%d", c.name, c.n), func(t *testing.T) {
			t.Log(c.text)
			r, directories := inject(c, "signal=KILL")
			require.Equal(t, "killed", r.Signal, "%+v", r)
			for _, dir := range directories {
				_, report, err := spool.Recover(dir)
				require.NoError(t, err)
				require.LessOrEqual(t, report.Calls, uint64(1))
				require.NotEmpty(t, report.EndedEarly)
			}
			if c.name == "clone3" || c.name == "rseq" || c.name == "mprotect" {
				return // libc's, which cannot live with every failure
			}
			r, directories = inject(c, "error=ENOSPC")
			require.Equal(t, plain.Code, r.Code, r.Stderr)
			require.Contains(t, r.Stdout, "sum 1000")
			require.LessOrEqual(t, strings.Count(r.Stderr, "cairn: "), 1, r.Stderr)
			for _, dir := range directories {
				_, _, err := spool.Recover(dir)
				require.NoError(t, err)
			}
		})
	}
}
