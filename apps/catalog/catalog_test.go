package catalog_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/apps/catalog"
)

func TestProgramsAreRead(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "programs.txt"), []byte(text), 0o600))
	}
	write("# a comment\n\none\n  about  the first\n  package a b\n  openmpi 2 prog -x 3\n  mpich 4 prog\n  says x | y\n" +
		"two\n  own\n  openmp 2\n  prepare make {mpi}\n")
	all, err := catalog.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, []*catalog.Program{
		{
			Name: "one", About: "the first", Packages: []string{"a", "b"}, OpenMP: 1,
			Commands: []catalog.Command{{MPI: "openmpi", Ranks: 2, Line: "prog -x 3"}, {MPI: "mpich", Ranks: 4, Line: "prog"}},
		},
		{Name: "two", Own: true, OpenMP: 2, Prepare: []string{"make {mpi}"}},
	}, all)
	for _, bad := range []string{"  about nobody\n", "one\n  openmpi none prog\n", "one\n  openmp x\n"} {
		write(bad)
		_, err := catalog.Read(dir)
		assert.ErrorContains(t, err, "programs.txt:", bad)
	}
}

func TestAFolderIsFreshAndPrepared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	p := catalog.New("none")
	p.Prepare = []string{"echo {mpi} >made", "exit 3"}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "left"), 0o755))
	err := p.Place(dir, "mpich", (*exec.Cmd).Run)
	assert.ErrorContains(t, err, "exit 3: ")
	assert.NoDirExists(t, filepath.Join(dir, "left"))
	made, err := os.ReadFile(filepath.Join(dir, "made"))
	require.NoError(t, err)
	assert.Equal(t, "mpich\n", string(made))
}
