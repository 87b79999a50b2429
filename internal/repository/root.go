// Package repository finds this repository's folder, for tests and development tools that read its
// files.
//
// It starts from the working directory, which `go test` sets to the package's folder, and searches
// for the folder of go.mod. Unlike the file names that the compiler records, this also works with
// -trimpath, so that checkouts share one build cache.
package repository

import (
	"os"
	"path/filepath"
)

// Root returns the folder of the go.mod at or above the working directory. It panics outside the
// repository, where its callers cannot work.
func Root() string {
	start, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for directory := start; ; directory = filepath.Dir(directory) {
		if _, err := os.Stat(filepath.Join(directory, "go.mod")); err == nil {
			return directory
		}
		if directory == filepath.Dir(directory) {
			panic("no go.mod at or above " + start)
		}
	}
}
