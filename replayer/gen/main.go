// Command gen writes the generated C of the replayer from the table of the MPI standard (package
// mpi).
//
// Its output, in replayer:
//
//   - for each replayed function, a C function that reads its arguments from the stream, makes the
//     call and stores the handles that it returns (calls_*_gen.c);
//   - the table of these (calls_gen.h, table_gen.c);
//   - the values of named constants (constants_gen.c).
//
// The output is checked in, so that the replayer builds with only a C compiler; a test fails if it
// is outdated.
//
//	go run ./replayer/gen [-o DIR]
package main

//go:generate go run . -o ..

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("o", "replayer", "directory to write to")
	flag.Parse()
	for name, content := range Generate() {
		path := filepath.Join(*out, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == content {
			continue // make uses modification times
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
