package main

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/perf/benchfmt"
)

// A benchmark is a line in the output of a Go benchmark.
type benchmark struct {
	name   string             // "Rates/sizes=5/noise=1%", without the number of processors
	values map[string]float64 // by unit, as in the line
}

func readBenchmarks(from io.Reader) ([]benchmark, error) {
	var all []benchmark
	r := benchfmt.NewReader(from, "the benchmark's output")
	for r.Scan() {
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		base, parts := result.Name.Parts()
		name := bytes.Clone(base)
		for _, part := range parts {
			if part[0] == '/' { // otherwise the number of processors
				name = append(name, part...)
			}
		}
		b := benchmark{string(name), map[string]float64{}}
		for _, v := range result.Values {
			if v.OrigUnit != "" {
				b.values[v.OrigUnit] = v.OrigValue
			} else {
				b.values[v.Unit] = v.Value
			}
		}
		all = append(all, b)
	}
	return all, r.Err()
}

func readBenchmarkFile(path string) ([]benchmark, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readBenchmarks(file)
}
