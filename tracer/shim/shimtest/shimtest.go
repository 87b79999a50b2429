// Package shimtest runs MPI programs under the shim, for tests. It returns what the program
// printed, how it ended, and the process directories of its ranks.
//
// The tests need the results of `make build` and `make examples`, and both MPIs.
package shimtest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/repository"
	"github.com/cairn-mpi/cairn/tracer/compressor"
)

// Implementations are the MPIs, by the names of their mpicc and mpirun.
var Implementations = []string{"openmpi", "mpich"}

// ImplementationsOf returns the MPIs that case i of a test runs under: both, or with -short one, so
// that each has half of the cases.
func ImplementationsOf(i int) []string {
	if testing.Short() {
		return Implementations[i%2 : i%2+1]
	}
	return Implementations
}

// Libraries are the libraries that the shims need from the project's lib directory,
// themselves included.
var Libraries = []string{
	"libcairn-openmpi.so", "libcairn-mpich.so", "libcairn-reference-openmpi.so", "libcairn-reference-mpich.so",
}

// Yield is a library that makes waiting ranks sleep for short times (test/yield): with more
// ranks than cores a program is then twenty times faster under MPICH, and takes half of the CPU
// seconds under Open MPI.
func Yield() string { return filepath.Join(Root(), "out", "yield.so") }

// Oversubscribed is the environment of tests with more ranks than cores: examples and skeletons
// sleep instead of computing, so that durations hold, waiting ranks leave their cores to others,
// and Open MPI starts them as root.
var Oversubscribed = []string{
	"EXAMPLES_SLEEP=1", "SKELETON_SLEEP=1", "CAIRN_TEST_PAUSE_US=20",
	"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
}

// OwnSessions returns the environment of a command whose Open MPI makes its session directories
// apart from all others: two mpirun that begin and end at the same time can fail with "File exists"
// (orte/util/session_dir.c makes and removes the folder that all share without a lock).
func OwnSessions(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ompi")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what an mpirun that was killed left may still write
	return "OMPI_MCA_orte_tmpdir_base=" + dir
}

// Root is the project's folder.
func Root() string { return repository.Root() }

// A Tracer is a root directory of the tracer (docs/decisions/0001-seams.md) in a
// temporary directory.
type Tracer struct {
	Dir   string
	Alone bool // no compressor runs beside its processes
}

// NewTracer returns a Tracer with the libraries of the project's lib and the given settings.
func NewTracer(t testing.TB, config map[string]any) *Tracer {
	t.Helper()
	for _, name := range Libraries {
		require.FileExists(t, filepath.Join(Root(), "lib", name), "`make build` makes it")
	}
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(Root(), "lib"), filepath.Join(dir, "lib")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "spool"), 0o777))
	require.NoError(t, os.Chmod(filepath.Join(dir, "spool"), 0o1777))
	tracer := &Tracer{Dir: dir}
	tracer.Configure(t, config)
	return tracer
}

// Configure writes the settings.
func (tr *Tracer) Configure(t testing.TB, config map[string]any) {
	t.Helper()
	b, err := json.Marshal(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(tr.Dir, "config.json"), b, 0o644))
}

// Preload is the value of LD_PRELOAD: both shims, as in an image that has both MPIs.
func (tr *Tracer) Preload() string {
	return filepath.Join(tr.Dir, "lib", "libcairn-openmpi.so") + ":" + filepath.Join(tr.Dir, "lib", "libcairn-mpich.so")
}

// Processes are the process directories in the spool.
func (tr *Tracer) Processes(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(tr.Dir, "spool", "*", "process.json"))
	require.NoError(t, err)
	for i := range paths {
		paths[i] = filepath.Dir(paths[i])
	}
	return paths
}

// A Result is the result of a command.
type Result struct {
	Code           int
	Signal         string // "" when it was not killed
	Stdout, Stderr string
}

const patience = 3 * time.Minute

// Run runs a command with the shims preloaded, and a compressor beside it.
func (tr *Tracer) Run(t testing.TB, command ...string) Result {
	t.Helper()
	return tr.RunWith(t, []string{"LD_PRELOAD=" + tr.Preload()}, command...)
}

// RunWith runs a command with additional environment variables, and a compressor beside it.
func (tr *Tracer) RunWith(t testing.TB, environment []string, command ...string) Result {
	t.Helper()
	spool := filepath.Join(tr.Dir, "spool")
	if _, err := os.Stat(spool); err == nil && !tr.Alone {
		c, err := compressor.Start(spool, t.Logf)
		require.NoError(t, err)
		defer c.Close()
	}
	return Run(t, environment, command...)
}

// Run runs a command with additional environment variables. Waiting ranks of mpirun sleep.
func Run(t testing.TB, environment []string, command ...string) Result {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), Oversubscribed...), environment...)
	cmd.Env = append(cmd.Env, OwnSessions(t))
	if strings.HasPrefix(command[0], "mpirun.") {
		cmd.Env = append(cmd.Env, "LD_PRELOAD="+strings.TrimPrefix(preload(cmd.Env)+":"+Yield(), ":"))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	require.True(t, timer.Stop(), "%s did not end within %s", strings.Join(command, " "), patience)
	r := Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
	if text := cmd.ProcessState.String(); strings.HasPrefix(text, "signal: ") {
		r.Signal = strings.TrimPrefix(text, "signal: ")
	}
	return r
}

// preload returns the last LD_PRELOAD of an environment.
func preload(environment []string) (value string) {
	for _, e := range environment {
		if v, ok := strings.CutPrefix(e, "LD_PRELOAD="); ok {
			value = v
		}
	}
	return value
}

// Launch returns the command that starts a program on this many ranks of this machine, which may be
// more than it has cores.
func Launch(implementation string, ranks int, program string, arguments ...string) []string {
	command := []string{"mpirun." + implementation, "-np", strconv.Itoa(ranks)}
	if implementation == "openmpi" {
		command = append(command, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return append(append(command, program), arguments...)
}

// Example is the path of an example program.
func Example(implementation, name string) string {
	return filepath.Join(Root(), "examples", "bin", implementation, name)
}

// CompileForAll compiles a C program for all MPIs and returns its paths by MPI.
func CompileForAll(t testing.TB, source string, flags ...string) map[string]string {
	t.Helper()
	programs := map[string]string{}
	for _, implementation := range Implementations {
		programs[implementation] = Compile(t, implementation, source, flags...)
	}
	return programs
}

// Compile compiles a program in C, C++ (.cc) or Fortran (.f90) for an MPI and returns its path.
func Compile(t testing.TB, implementation, source string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	compiler := "mpicc." + implementation
	switch filepath.Ext(source) {
	case ".f90":
		compiler = "mpif90." + implementation
		flags = append(flags, "-fallow-argument-mismatch") // mpif.h has no interfaces for buffers
	case ".cc":
		compiler = "mpicxx." + implementation
	}
	args := append([]string{"-g", "-O1", "-w", "-o", out, source}, flags...)
	b, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, string(b))
	return out
}
