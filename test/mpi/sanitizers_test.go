//go:build mpi

package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// sanitizedTracer is a root of the tracer with shims that check their memory and arithmetic, with
// the environment of programs that run with it. Small record buffers are
// switched often.
func sanitizedTracer(t *testing.T) (environment []string) {
	t.Helper()
	root := t.TempDir()
	lib := filepath.Join(root, "lib")
	require.NoError(t, os.Mkdir(lib, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(root, "spool"), 0o777))
	sanitized := shimtest.Variant(t, "asan")
	for _, implementation := range implementations {
		for _, name := range []string{"libcairn-" + implementation + ".so", "libcairn-reference-" + implementation + ".so"} {
			require.NoError(t, os.Symlink(filepath.Join(sanitized, name), filepath.Join(lib, name)))
		}
	}
	const allocations = "libcairn-allocations.so"
	require.NoError(t, os.Symlink(filepath.Join(shimtest.Root(), "lib", allocations), filepath.Join(lib, allocations)))
	require.NoError(t, os.WriteFile(filepath.Join(root, "config.json"),
		[]byte(`{"verify": true, "call_sites": "path", "segment_bytes": 8192}`), 0o644))
	return []string{
		"CAIRN_ROOT=" + root,
		"LD_PRELOAD=" + strings.Join([]string{
			shimtest.RuntimeLibrary(t, "libasan.so"), shimtest.RuntimeLibrary(t, "libubsan.so"),
			filepath.Join(lib, "libcairn-openmpi.so"), filepath.Join(lib, "libcairn-mpich.so"),
		}, ":"),
		// what the MPI libraries leak, or pass to libc, is not the tracer's
		"ASAN_OPTIONS=detect_leaks=0:exitcode=66:alloc_dealloc_mismatch=0",
		"UBSAN_OPTIONS=print_stacktrace=1",
	}
}

// launchUnder is a launch of a program with environment variables of its own: mpirun
// keeps its libraries.
func launchUnder(environment, command []string, at int) []string {
	return append(append(append(append([]string{}, command[:at]...), "env"), environment...), command[at:]...)
}

// TestFamiliesUnderSanitizers runs the program of each family, and so every function, with a shim
// that checks its own memory accesses and arithmetic.
func TestFamiliesUnderSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all")
	}
	dir := buildFamilies(t)
	environment := sanitizedTracer(t)
	for _, implementation := range implementations {
		programs, err := filepath.Glob("families/*.c")
		require.NoError(t, err)
		for _, source := range programs {
			program := strings.TrimSuffix(filepath.Base(source), ".c")
			t.Run(implementation+"/"+program, func(t *testing.T) {
				command, ranks := launchFamily(implementation, dir, program)
				r := shimtest.Run(t, nil, launchUnder(environment, command, len(command)-1)...)
				require.Equal(t, 0, r.Code, "%s\n%s", r.Stdout, r.Stderr)
				assert.NotRegexp(t, `Sanitizer|runtime error|(?m)^cairn: `, r.Stderr)
				assert.Len(t, printedCounts(t, r.Stdout), ranks)
			})
		}
	}
}

// TestSanitizersSeeTheShim: a program that passes an array that is too short makes the
// shim read beyond it.
func TestSanitizersSeeTheShim(t *testing.T) {
	if testing.Short() {
		t.Skip("in make test-all, as what it is for")
	}
	source := filepath.Join(t.TempDir(), "short.c")
	require.NoError(t, os.WriteFile(source, []byte(`
#include <mpi.h>
#include <stdlib.h>
int main(void)
{
	MPI_Init(NULL, NULL);
	MPI_Request *requests = malloc(2 * sizeof(MPI_Request));
	requests[0] = requests[1] = MPI_REQUEST_NULL;
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	MPI_Finalize();
	return 0;
}
`), 0o644))
	environment := sanitizedTracer(t)
	for _, implementation := range implementations {
		t.Run(implementation, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "short")
			out, err := exec.Command("mpicc."+implementation, "-w", "-o", program, source).CombinedOutput()
			require.NoError(t, err, string(out))
			r := shimtest.Run(t, environment, program)
			require.Equal(t, 66, r.Code, r.Stderr)
			require.Regexp(t, `heap-buffer-overflow(.|\n)*cairn_MPI_Waitall`, r.Stderr)
		})
	}
}

// A correct program of several threads: what a checker reports of it is not its own.
const checked = `
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
enum { THREADS = 3 };
static void *work(void *unused)
{
	int flag;
	for (int i = 0; i < 1000; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, i % 100, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	return unused;
}
int main(int argc, char **argv)
{
	int provided;
	pthread_t thread[THREADS];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	work(NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("done\n");
	fflush(stdout);
	MPI_Finalize();
	return 3;
}
`

// reports returns what kinds of errors a checker reports at its end.
func reports(stderr string) []string {
	return regexp.MustCompile(`SUMMARY: \w+Sanitizer: [a-z -]*|ERROR SUMMARY: \d+ errors`).FindAllString(regexp.MustCompile(`\d+ byte\(s\)`).ReplaceAllString(stderr, "bytes"), -1)
}

// TestCheckedPrograms: a program that a sanitizer or valgrind checks prints and ends as it does
// without the tracer, also where reports of the MPI library decide how it ends, and no report names
// the tracer. Sanitizers' libraries come after ours, unless the user preloads them.
func TestCheckedPrograms(t *testing.T) {
	source := filepath.Join(t.TempDir(), "checked.c")
	require.NoError(t, os.WriteFile(source, []byte(checked), 0o644))
	for _, check := range []struct {
		name   string
		flags  []string
		before []string // of cairn
		within []string // of the program
		short  string   // the MPI that the short suite has it with; "": none
	}{
		{"address", []string{"-fsanitize=address"}, nil, nil, "mpich"},
		{"address, undefined", []string{"-fsanitize=address,undefined"}, nil, nil, ""},
		{"undefined", []string{"-fsanitize=undefined"}, nil, nil, ""},
		{"thread", []string{"-fsanitize=thread"}, nil, nil, "openmpi"}, // MPICH's MPI_Finalize crashes with it
		{"leak", []string{"-fsanitize=leak"}, nil, nil, ""},
		{"preloaded address", nil, []string{"env", "LD_PRELOAD=" + shimtest.RuntimeLibrary(t, "libasan.so")}, nil, ""},
		{"valgrind", nil, nil, []string{"valgrind", "--error-exitcode=99"}, ""},
	} {
		for _, implementation := range implementations {
			if testing.Short() && implementation != check.short {
				continue
			}
			t.Run(implementation+"/"+check.name, func(t *testing.T) {
				program := shimtest.Compile(t, implementation, source, append(check.flags, "-pthread")...)
				command := append(slices.Clone(check.within), program)
				inShell := []string{"sh", "-c", `"$@"; exit $?`, "sh"} // for the exit code of a crash
				plain := shimtest.Run(t, nil, slices.Concat(inShell, check.before, command)...)
				dir := filepath.Join(t.TempDir(), "out")
				traced := shimtest.Run(t, nil, slices.Concat(check.before, cairnRun(dir, command...))...)
				require.Equal(t, plain.Code, traced.Code, traced.Stderr)
				require.True(t, strings.HasPrefix(traced.Stdout, plain.Stdout), traced.Stdout)
				require.Equal(t, reports(plain.Stderr), reports(traced.Stderr))
				require.NotRegexp(t, `libcairn|cairn_`, traced.Stderr)
				require.FileExists(t, filepath.Join(dir, "trace.cairn"))
			})
		}
	}
}
