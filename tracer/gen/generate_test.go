package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checked-in C code is up to date with the table of the standard;
// `go generate ./tracer/gen` updates it.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	shim := filepath.Join("..", "shim")
	files := Generate()
	for name, content := range files {
		b, err := os.ReadFile(filepath.Join(shim, name))
		require.NoError(t, err)
		require.True(t, string(b) == content, "%s is stale: run go generate ./tracer/gen", name)
	}
	for _, pattern := range []string{"*_gen.*", "*/*_gen.*", "*/*/*_gen.*"} {
		paths, err := filepath.Glob(filepath.Join(shim, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			name, err := filepath.Rel(shim, path)
			require.NoError(t, err)
			if name == filepath.Join("process", "settings_gen.h") || strings.HasPrefix(name, "build"+string(filepath.Separator)) {
				continue // of tracer/settings, whose tests hold it; objects
			}
			_, generated := files[name]
			require.True(t, generated, "nobody generates %s any more", name)
		}
	}
}
