//go:build mpi

package mpi

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// pythonCall is what the tests look at in a call of a Python program.
type pythonCall struct {
	Rank     int
	Function string
	CallSite struct {
		Module, Function, File string
		Line                   int
	} `json:"call_site"`
}

// tracePython runs a program of Python under Open MPI.
func tracePython(t *testing.T, ranks int, interpreter string, arguments ...string) (calls []pythonCall, stdout string) {
	t.Helper()
	command := launch("openmpi", ranks, "")
	command[len(command)-1] = interpreter
	r := trace(t, []string{"--verify"}, append(command, arguments...)...)
	require.Equal(t, 0, r.code, "%s\n%s", r.stdout, r.stderr)
	assert.Contains(t, r.stdout+r.stderr, "agree with the reference log")
	dump := cairn(t, "", "dump", filepath.Join(r.dir, "trace.cairn"), "--json")
	require.Equal(t, 0, dump.code, dump.stderr)
	for line := range strings.Lines(dump.stdout) {
		var call pythonCall
		require.NoError(t, json.Unmarshal([]byte(line), &call), line)
		calls = append(calls, call)
	}
	return calls, r.stdout
}

// TestPythonLines: the call site of a call by mpi4py is the line of Python that made it.
func TestPythonLines(t *testing.T) {
	t.Parallel()
	t.Run("example", func(t *testing.T) {
		program := filepath.Join(shimtest.Root(), "examples", "mpi4py_calls.py")
		source, err := os.ReadFile(program)
		require.NoError(t, err)
		lineOf := func(text string) int {
			before, _, found := strings.Cut(string(source), text)
			require.True(t, found, text)
			return strings.Count(before, "\n") + 1
		}
		calls, _ := tracePython(t, 2, python, program)
		sites := map[string]bool{}
		for _, c := range calls {
			if c.CallSite.File == program {
				sites[fmt.Sprintf("%s %s:%d", c.Function, c.CallSite.Function, c.CallSite.Line)] = true
			}
		}
		first, call := lineOf("rank, ranks = world.Get_rank()"), lineOf("return f(*arguments")
		for _, name := range []string{"MPI_Comm_rank", "MPI_Comm_size"} {
			assert.Contains(t, sites, fmt.Sprintf("%s <module>:%d", name, first))
		}
		for _, name := range []string{"MPI_Irecv", "MPI_Isend", "MPI_Waitall", "MPI_Allreduce", "MPI_Comm_split", "MPI_Barrier", "MPI_Put", "MPI_Win_fence"} {
			assert.Contains(t, sites, fmt.Sprintf("%s call:%d", name, call))
		}
	})
	t.Run("every call", func(t *testing.T) {
		calls, stdout := tracePython(t, 1, python, "python/lines.py")
		checkLines(t, calls, stdout)
	})
	// CAIRN_PYTHONS names more interpreters, with their headers: layouts differ from
	// version to version.
	for _, interpreter := range append(strings.Fields(os.Getenv("CAIRN_PYTHONS")), python) {
		t.Run("extension/"+interpreter, func(t *testing.T) {
			dir := t.TempDir()
			include, err := exec.Command(interpreter, "-c", "import sysconfig; print(sysconfig.get_paths()['include'])").Output()
			require.NoError(t, err)
			out, err := exec.Command("mpicc.openmpi", "-shared", "-fPIC", "-I"+strings.TrimSpace(string(include)), "-o",
				filepath.Join(dir, "tinympi.so"), "python/tinympi.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			out, err = exec.Command("mpicc.openmpi", "-shared", "-fPIC", "-o", filepath.Join(dir, "layers.so"), "python/layers.c").CombinedOutput()
			require.NoError(t, err, "%s", out)
			calls, stdout := tracePython(t, 1, interpreter, "python/tiny.py", dir)
			checkLines(t, calls, stdout)
		})
	}
}

// checkLines compares the call sites of MPI_Barrier with the lines that the program printed.
func checkLines(t *testing.T, calls []pythonCall, stdout string) {
	t.Helper()
	var want, got []string
	for line := range strings.Lines(stdout) {
		if after, ok := strings.CutPrefix(line, "lines "); ok {
			want = strings.Fields(after)
		}
	}
	require.Greater(t, len(want), 200)
	for _, c := range calls {
		if c.Function == "MPI_Barrier" {
			got = append(got, fmt.Sprintf("%d:%s", c.CallSite.Line, c.CallSite.Function))
		}
	}
	assert.Equal(t, want, got)
}
