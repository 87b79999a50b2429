// Command gen writes the shim's header of the settings.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/cairn-mpi/cairn/tracer/settings"
)

func main() {
	out := flag.String("o", "settings_gen.h", "the header")
	flag.Parse()
	if err := os.WriteFile(*out, settings.Header(), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
