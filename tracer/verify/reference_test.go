//go:build mpi

package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/shim/shimtest"
)

// Without the library of the reference log the process reports that in one line and is traced;
// verification finds no log.
func TestWithoutTheReferenceLibrary(t *testing.T) {
	t.Parallel()
	for _, implementation := range shimtest.Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := compileBrief(t, implementation)
			tracer := shimtest.NewTracer(t, map[string]any{"verify": true})
			lib := filepath.Join(tracer.Dir, "lib")
			require.NoError(t, os.Remove(lib))
			require.NoError(t, os.Mkdir(lib, 0o755))
			for _, name := range shimtest.Libraries {
				if !strings.Contains(name, "reference") {
					require.NoError(t, os.Symlink(filepath.Join(shimtest.Root(), "lib", name), filepath.Join(lib, name)))
				}
			}
			plain, r := shimtest.Run(t, nil, program), tracer.Run(t, program)
			require.Equal(t, plain.Code, r.Code)
			require.Equal(t, plain.Stdout, r.Stdout)
			require.Regexp(t, `^cairn: no reference log is written: \S*libcairn-reference-`+implementation+`\.so: .*\n$`, r.Stderr)
			directories := tracer.Processes(t)
			require.Len(t, directories, 1)
			require.NoDirExists(t, filepath.Join(directories[0], "reference"))
			reader := open(t, directories)
			calls := 0
			for _, thread := range reader.Threads().All() {
				calls += int(thread.Calls)
			}
			require.Greater(t, calls, 4000)
			_, err := Compare(reader, directories)
			require.ErrorIs(t, err, ErrNoReference)
		})
	}
}
