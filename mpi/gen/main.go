// Command gen generates functions_gen.go and constants_gen.go from functions.txt and constants.txt.
// `go generate` runs it in the directory of package mpi.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "mpi/gen:", err)
		os.Exit(1)
	}
}

// run generates the files of package mpi in directory dir.
func run(dir string) error {
	for name, generate := range generated {
		source, err := generate(dir)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), source, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generated maps each generated file to the function that returns its content.
var generated = map[string]func(dir string) ([]byte, error){
	"constants_gen.go": generateConstants,
	"functions_gen.go": generateFunctions,
}

func generateFunctions(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "functions.txt"))
	if err != nil {
		return nil, err
	}
	functions, err := parseFunctions("functions.txt", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return emitFunctions(functions)
}

func generateConstants(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, "constants.txt"))
	if err != nil {
		return nil, err
	}
	constants, err := parseConstants("constants.txt", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return emitConstants(constants)
}
