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
	err := p.Place(dir, "mpich", false, (*exec.Cmd).Run)
	assert.ErrorContains(t, err, "exit 3: ")
	assert.NoDirExists(t, filepath.Join(dir, "left"))
	made, err := os.ReadFile(filepath.Join(dir, "made"))
	require.NoError(t, err)
	assert.Equal(t, "mpich\n", string(made))
}

// TestInputsAreMadeLonger: each command changes the inputs, and is there no more if these change.
func TestInputsAreMadeLonger(t *testing.T) {
	t.Chdir("../..")
	all, err := catalog.Read(catalog.Folder)
	require.NoError(t, err)
	found := 0
	for _, p := range all {
		before := inputs(t, filepath.Join(catalog.Folder, "inputs", p.Name))
		for _, line := range p.Longer {
			one := catalog.New(p.Name)
			one.Longer = []string{line}
			dir := filepath.Join(t.TempDir(), "run")
			require.NoError(t, one.Place(dir, "openmpi", true, (*exec.Cmd).Run))
			assert.NotEqual(t, before, inputs(t, dir), "%s: %s", p.Name, line)
			found++
		}
	}
	assert.NotZero(t, found)
}

// inputs returns the content of all files of a folder, if there is one.
func inputs(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		files[filepath.Base(path)] = string(text)
	}
	return files
}
