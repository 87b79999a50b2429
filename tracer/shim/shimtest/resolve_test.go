//go:build mpi

package shimtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The symbols of a binary are extracted by one process per spool. It has the lowest priority, is no
// child of the application, and inherits none of its descriptors.
func TestResolverIsStartedOnceAndDetached(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "ends.c")
	require.NoError(t, os.WriteFile(source, []byte(ends), 0o644))
	for _, implementation := range Implementations {
		t.Run(implementation, func(t *testing.T) {
			program := Compile(t, implementation, source)
			plain := Run(t, nil, program, "fork")
			tracer := NewTracer(t, map[string]any{"call_sites": "caller"})
			log := filepath.Join(tracer.Dir, "resolver.log")
			stub := "#!/bin/sh\n{ printf '%s nice %s files ' \"$*\" $(nice); ls -m /proc/self/fd; } >> " + log + "\nsleep 1\n"
			require.NoError(t, os.WriteFile(filepath.Join(tracer.Dir, "cairn"), []byte(stub), 0o755))
			start := time.Now()
			traced := tracer.Run(t, program, "fork")
			require.Equal(t, plain.Code, traced.Code)
			require.Equal(t, plain.Stdout, traced.Stdout)
			tracer.Run(t, Launch(implementation, 4, program, "normal")...)
			var b []byte
			require.Eventually(t, func() bool {
				b, _ = os.ReadFile(log)
				return strings.HasSuffix(string(b), "\n")
			}, 5*time.Second, 10*time.Millisecond)
			require.Less(t, time.Since(start), patience)
			lines := strings.Split(strings.TrimSpace(string(b)), "\n")
			require.Len(t, lines, 1, "one process resolves one binary")
			require.Contains(t, lines[0], "resolve --executable "+program+" --out "+filepath.Join(tracer.Dir, "spool", "symbols"))
			require.Contains(t, lines[0], "nice 19")
			_, files, _ := strings.Cut(lines[0], "files ")
			require.Equal(t, "0, 1, 2, 3", files, "nothing of the application is open; ls itself opens 3")
		})
	}
}

// Without call sites, or without the cairn binary, nothing is started.
func TestNoResolverWithoutCallSites(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "ends.c")
	require.NoError(t, os.WriteFile(source, []byte(ends), 0o644))
	program := Compile(t, "mpich", source)
	tracer := NewTracer(t, map[string]any{"call_sites": "none"})
	require.NoError(t, os.WriteFile(filepath.Join(tracer.Dir, "cairn"), []byte("#!/bin/sh\n"), 0o755))
	tracer.Run(t, program, "normal")
	require.NoDirExists(t, filepath.Join(tracer.Dir, "spool", "symbols"))
}
