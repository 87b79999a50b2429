//go:build mpi

package verify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// TestMistakesInTheRecordPath builds the shim with bugs in the way it writes records. The reference
// log does not have them, so the comparison must find both.
func TestMistakesInTheRecordPath(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("in make test-all: it compiles the shim; TestCorruptedLog asks the same of the comparison")
	}
	const implementation = "mpich"
	mistakes := []struct{ right, wrong, found string }{
		// a status with source and tag exchanged
		{"(uint32_t)s.MPI_SOURCE | (uint64_t)(uint32_t)s.MPI_TAG << 32", "(uint32_t)s.MPI_TAG | (uint64_t)(uint32_t)s.MPI_SOURCE << 32", "MPI_Recv, status: [17 0 0 0 4] in the trace, {0,17,0,0,4}"},
		// a list whose last element is the first
		{"*(word)++ = CAIRN_WORD((array)[i_]);", "*(word)++ = CAIRN_WORD((array)[i_ == n_ - 1 ? 0 : i_]);", "MPI_Type_indexed, array_of_blocklengths: [1 2 1] in the trace, [1,2,3]"},
	}
	sources := t.TempDir()
	for _, part := range []string{"shim", "ring"} { // the shim includes its headers
		require.NoError(t, os.CopyFS(filepath.Join(sources, part), os.DirFS(filepath.Join(shimtest.Root(), "tracer", part))))
	}
	shim := filepath.Join(sources, "shim")
	header := filepath.Join(shim, "record", "encode.h")
	b, err := os.ReadFile(header)
	require.NoError(t, err)
	text := string(b)
	for _, m := range mistakes {
		require.Contains(t, text, m.right)
		text = strings.Replace(text, m.right, m.wrong, 1)
	}
	require.NoError(t, os.WriteFile(header, []byte(text), 0o644))

	tracer := shimtest.NewTracer(t, map[string]any{"verify": true})
	lib := filepath.Join(tracer.Dir, "lib")
	require.NoError(t, os.Remove(lib))
	require.NoError(t, os.Mkdir(lib, 0o755))
	for _, library := range []string{"libcairn-openmpi.so", "libcairn-reference-" + implementation + ".so"} {
		require.NoError(t, os.Symlink(filepath.Join(shimtest.Root(), "lib", library), filepath.Join(lib, library)))
	}
	made := filepath.Join(lib, "libcairn-"+implementation+".so")
	// not optimized: only what it does counts
	out, err := exec.Command("make", "-s", "-C", shim, made, "OUT="+lib, "BUILD="+filepath.Join(shim, "mistaken"), "CFLAGS=-O0", "OPTIMIZE=").CombinedOutput()
	require.NoError(t, err, "%s", out)

	r := tracer.Run(t, shimtest.Launch(implementation, 2, shimtest.Compile(t, implementation, source("mistakes.c")))...)
	require.Equal(t, 0, r.Code, r.Stderr)
	directories := tracer.Processes(t)
	result, err := Compare(open(t, directories), directories)
	require.NoError(t, err)
	var found strings.Builder
	for _, d := range result.Disagreements {
		found.WriteString(d.String() + "\n")
	}
	for _, m := range mistakes {
		require.Contains(t, found.String(), m.found)
	}
}
