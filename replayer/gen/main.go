// Command gen writes the generated C of the replayer from the table of the MPI standard.
//
// What goes in: mpi. What comes out, in replayer: for each function that is executed again one that reads its arguments
// from the stream, makes the call and keeps the handles that it gives (calls_*_gen.c), the table of these (calls_gen.h,
// table_gen.c), and the values of named constants (constants_gen.c). The output is checked in, so that the replayer builds
// with a C compiler alone; a test fails when it is stale.
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
			continue // make goes by the time of modification
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
