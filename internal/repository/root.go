// Package repository finds this repository's folder, for tests and development tools that read files of it.
//
// In: the working directory, which `go test` sets to the package's folder. Out: the folder of go.mod. Unlike the
// file names that the compiler keeps, it is right under -trimpath too, so that checkouts share one build cache.
package repository

import (
	"os"
	"path/filepath"
)

// Root is the folder of the go.mod at or above the working directory. It panics outside the repository: nothing
// that calls it has a use there.
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
