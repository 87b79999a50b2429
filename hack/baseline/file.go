package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/perf/benchfmt"
)

// units describe how values are compared: lower is better for all of them, and some are exact.
const units = `Unit text-bytes better=lower assume=exact
Unit trace-bytes better=lower assume=exact
Unit cpu-sec/op better=lower
Unit peak-bytes better=lower
Unit calling-instructions/op better=lower
Unit instructions/op better=lower
`

// writeAll writes a file for each tree, and prints their names.
func writeAll(folder string, trees []*tree) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, t := range trees {
		path := filepath.Join(folder, t.name+".txt")
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := errors.Join(t.write(file), file.Close()); err != nil {
			return err
		}
		fmt.Println(path)
	}
	return nil
}

func (t *tree) write(to io.Writer) error {
	if _, err := fmt.Fprintf(to, "tree: %s\n%s", t.name, units); err != nil {
		return err
	}
	w := benchfmt.NewWriter(to)
	for _, r := range t.results {
		line := benchfmt.Result{Name: benchfmt.Name(r.name), Iters: 1}
		line.SetConfig("tree", t.name)
		for _, v := range r.values {
			line.Values = append(line.Values, benchfmt.Value{Value: v.amount, Unit: v.unit})
		}
		if err := w.Write(&line); err != nil {
			return err
		}
	}
	return nil
}

// A measurement is the content of a file: for each benchmark and unit, in the file's order, all
// values.
type measurement struct {
	order  []key
	values map[key][]float64
	units  benchfmt.UnitMetadataMap
}

type key struct{ name, unit string }

func readFile(path string) (*measurement, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return read(file, path)
}

func read(from io.Reader, name string) (*measurement, error) {
	m := &measurement{values: map[key][]float64{}}
	r := benchfmt.NewReader(from, name)
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.Result:
			for _, v := range record.Values {
				k := key{record.Name.String(), v.Unit}
				if _, seen := m.values[k]; !seen {
					m.order = append(m.order, k)
				}
				m.values[k] = append(m.values[k], v.Value)
			}
		case *benchfmt.SyntaxError:
			return nil, record
		}
	}
	m.units = r.Units()
	if err := r.Err(); err != nil {
		return nil, err
	}
	if len(m.order) == 0 {
		return nil, fmt.Errorf("%s has no measurements: make one with make baseline", name)
	}
	return m, nil
}
