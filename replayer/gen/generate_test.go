package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checked-in C is what the table of the standard says now:
// `go generate ./replayer/gen` makes it so.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	files := Generate()
	for name, content := range files {
		b, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		require.True(t, string(b) == content, "%s is stale: run go generate ./replayer/gen", name)
	}
	paths, err := filepath.Glob(filepath.Join("..", "*_gen.*"))
	require.NoError(t, err)
	for _, path := range paths {
		require.Contains(t, files, filepath.Base(path), "nobody generates it any more")
	}
}
