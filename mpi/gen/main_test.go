package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate makes sure that the checked-in files match the text.
func TestUpToDate(t *testing.T) {
	const dir = ".."
	for name, generate := range generated {
		want, err := generate(dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run `go generate ./mpi`", name)
		}
	}
}
