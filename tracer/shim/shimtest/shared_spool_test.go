//go:build mpi

package shimtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/budget"
	"github.com/cairn-mpi/cairn/tracer/recorder/spool"
)

// planting puts a link in the place of the dictionary before the tracer creates it: for a library
// that calls MPI and was loaded after MPI_Init.
const planting = `
#include <mpi.h>
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char pattern[4096], dictionary[4096];
	glob_t found;
	MPI_Init(&argc, &argv);
	snprintf(pattern, sizeof(pattern), "%s/*-*-*", argv[1]);
	if (glob(pattern, 0, NULL, &found) != 0) return 90;
	snprintf(dictionary, sizeof(dictionary), "%s/dictionary", found.gl_pathv[0]);
	if (symlink(argv[2], dictionary) != 0) return 91;
	void *library = dlopen(argv[3], RTLD_NOW);
	if (library == NULL) return 92;
	((void (*)(int))dlsym(library, "from_plugin"))(7);
	MPI_Finalize();
	return 0;
}
`

// Without a sidecar, as under "cairn run", other users of the machine may reach the spool. They
// cannot write to any process's directory, and a budget file of theirs is ignored.
func TestSpoolOfOneUser(t *testing.T) {
	t.Parallel()
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			for shared, mode := range map[bool]fs.FileMode{false: 0o755, true: 0o777} {
				tracer := NewTracer(t, map[string]any{"shared_spool": shared, "verify": true})
				if !shared {
					root, err := os.OpenRoot(filepath.Join(tracer.Dir, "spool"))
					require.NoError(t, err)
					defer root.Close()
					_, err = budget.Make(root, 1) // anybody's
					require.NoError(t, err)
				}
				r := tracer.Run(t, Launch(implementation, 2, Example(implementation, "ring"))...)
				require.Equal(t, 0, r.Code, r.Stderr)
				require.NotContains(t, r.Stderr, "cairn:")
				for _, dir := range tracer.Processes(t) {
					for _, name := range []string{dir, filepath.Join(dir, "reference")} {
						info, err := os.Stat(name)
						require.NoError(t, err)
						require.Equal(t, mode, info.Mode().Perm(), name)
					}
					_, report, err := spool.Recover(dir)
					require.NoError(t, err)
					require.Positive(t, report.Calls)
				}
			}
		})
	}
}

// In a pod the sidecar can write to the directory, too: the dictionary is not
// written through a link.
func TestDictionaryIsNoLink(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "planting.c")
	require.NoError(t, os.WriteFile(source, []byte(planting), 0o644))
	program := Compile(t, "mpich", source)
	library := Compile(t, "mpich", filepath.Join(Root(), "tracer", "shim", "testdata", "later.c"), "-shared", "-fPIC")
	tracer := NewTracer(t, map[string]any{"shared_spool": true, "call_sites": "caller"})
	victim := filepath.Join(t.TempDir(), "authorized_keys")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	r := tracer.Run(t, program, filepath.Join(tracer.Dir, "spool"), victim, library)
	require.Equal(t, 0, r.Code, r.Stderr)
	content, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))
}
