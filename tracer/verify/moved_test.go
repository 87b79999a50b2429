//go:build mpi && amd64

package verify

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Functions whose beginnings cannot be replaced are left as they are, and their number is known.
func TestFunctionsThatCannotBeCounted(t *testing.T) {
	t.Parallel()
	const shim = "../shim/"
	program := shimtest.Compile(t, "openmpi", shim+"testdata/moved.c", shim+"reference/entries.c", shim+"reference/instruction.c",
		"-std=c11", "-D_GNU_SOURCE", "-DCAIRN_OPENMPI")
	dir := t.TempDir()
	out, err := exec.Command(program, dir).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, "8 14 21 8 ", string(out))
	counts, err := os.ReadFile(filepath.Join(dir, "past"))
	require.NoError(t, err)
	require.EqualValues(t, 3, binary.NativeEndian.Uint64(counts), "functions that are not counted: all but the first")
}
