//go:build mpi

package verify

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// A platform is a C library or an architecture other than this machine's.
type platform struct {
	compiler  string
	emulator  []string // in front of a program
	libraries string   // the folder of the tracer's libraries for it
}

var platforms = map[string]platform{
	"musl": {compiler: "musl-gcc", libraries: "lib"},
}

// headers are the flags of MPICH's headers, which testdata/fakempi.c needs. Nothing of them depends on the platform.
func headers(t *testing.T) (flags []string) {
	t.Helper()
	show, err := exec.Command("mpicc.mpich", "-show").Output()
	require.NoError(t, err)
	for _, f := range strings.Fields(string(show)) {
		if strings.HasPrefix(f, "-I") {
			flags = append(flags, f)
		}
	}
	require.NotEmpty(t, flags)
	return flags
}

// stress builds testdata/stress.c for the platform, and an MPI library of one process.
func (p platform) stress(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := func(out string, arguments ...string) string {
		out = filepath.Join(dir, out)
		arguments = append(append([]string{"-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", out}, headers(t)...), arguments...)
		text, err := exec.Command(p.compiler, arguments...).CombinedOutput()
		require.NoError(t, err, string(text))
		return out
	}
	library := build("libmpi.so", "-fPIC", "-shared", "-Wl,-soname,libmpi.so", source("fakempi.c"))
	return build("stress", source("stress.c"), library, "-Wl,-rpath,"+dir)
}

// On each platform six threads exercise everything that the shim's threads share, with call paths and pointers. Their
// calls agree with the reference log, and the program prints nothing else than without the tracer.
func TestPlatforms(t *testing.T) {
	t.Parallel()
	for name, p := range platforms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := append(p.emulator, p.stress(t), "20")
			plain := shimtest.Run(t, nil, command...)
			require.Equal(t, 0, plain.Code, plain.Stdout+plain.Stderr)
			for _, config := range []map[string]any{
				{"call_sites": "caller", "verify": true},
				{"call_sites": "path", "pointers": true, "verify": true},
			} {
				tracer := shimtest.NewTracer(t, config)
				r := tracer.Run(t, command...)
				require.Equal(t, plain, r)
				directories := tracer.Processes(t)
				require.Len(t, directories, 1)
				result, err := Compare(open(t, directories), directories)
				require.NoError(t, err)
				for _, d := range result.Disagreements {
					t.Error(d)
				}
				require.Greater(t, result.Calls, uint64(5000))
			}
		})
	}
}
