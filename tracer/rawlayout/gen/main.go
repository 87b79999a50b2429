// Command gen writes the layout of raw files for Go (tracer/rawlayout/layout_gen.go) and for C
// (tracer/ring/layout_gen.h) from its table. `go generate ./tracer/rawlayout` runs it.
package main

import (
	"fmt"
	"os"
)

// outputs are the generated files, relative to tracer/rawlayout, and their generators.
var outputs = map[string]func() ([]byte, error){
	"layout_gen.go":        goSource,
	"../ring/layout_gen.h": func() ([]byte, error) { return cHeader(), nil },
}

func main() {
	for path, generate := range outputs {
		text, err := generate()
		if err == nil {
			err = os.WriteFile(path, text, 0o644)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}
