package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The checked-in files are up to date with the table.
func TestUpToDate(t *testing.T) {
	for path, generate := range outputs {
		want, err := generate()
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("..", path))
		require.NoError(t, err)
		require.True(t, string(want) == string(got), "%s is stale: run go generate ./tracer/rawlayout", path)
	}
}

// All fields are aligned, so that C adds no padding.
func TestFieldsAreAligned(t *testing.T) {
	for _, s := range structures {
		at := 0
		for _, f := range s.fields {
			require.Zero(t, at%min(f.bytes, 8), "%s.%s", s.goName, f.goName)
			at += f.size()
		}
		require.Zero(t, at%8, s.goName)
	}
}
