//go:build mpi

package shimtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program without MPI that refers to it weakly, and finds the shim, hears that MPI is not
// initialized.
func TestWeakReferencesWithoutMPI(t *testing.T) {
	t.Parallel()
	const text = `
int MPI_Initialized(int *) __attribute__((weak));
int MPI_Finalized(int *) __attribute__((weak));
int main(void)
{
	int initialized = 7, finalized = 7;
	if (MPI_Initialized && (MPI_Initialized(&initialized) || initialized))
		return 1;
	if (MPI_Finalized && (MPI_Finalized(&finalized) || finalized))
		return 2;
	return 0;
}
`
	source := filepath.Join(t.TempDir(), "weak.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o644))
	program := source + ".out"
	out, err := exec.Command("gcc", "-O1", "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	r := NewTracer(t, nil).Run(t, program)
	assert.Equal(t, 0, r.Code)
	assert.Empty(t, r.Stdout+r.Stderr)
}
