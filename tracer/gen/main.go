// Command gen writes the generated C code of the shim from the table of the MPI
// standard (package mpi).
//
// Its output in tracer/shim/gen is one wrapper per function (wrappers_*_gen.c), the exported entry
// points (entries_gen.S), and the tables of names and constants; in tracer/shim/reference/gen, the
// reference log's writer for each function. The output is checked in, so that a C compiler is
// enough to build the shim; a test fails if it is stale.
//
//	go run ./tracer/gen [-o DIR]
package main

//go:generate go run . -o ../shim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", "tracer/shim", "directory of the shim")
	flag.Parse()
	for name, content := range Generate() {
		if err := writeIfChanged(filepath.Join(*out, name), content); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

// writeIfChanged keeps the modification time of files that are up to date, so that make does
// not recompile them.
func writeIfChanged(path, content string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == content {
		return nil
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
