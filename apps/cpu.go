package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/cairn-mpi/cairn/bench/paired"
)

// The seconds of native runs that are measured in all, and the number of pairs.
const (
	measuredSeconds    = 12
	minPairs, maxPairs = 5, 12
)

// cpu measures the CPU time of the program with the tracer and without, in turns. The time of the
// merge and of the analysis is not part of it: they run after the program.
func (w *work) cpu(ctx context.Context) error {
	dir, err := w.in(ctx, "cpu")
	if err != nil {
		return err
	}
	first, _, err := w.start(ctx, dir, "") // files are in the cache from here on
	if err != nil {
		return err
	}
	n := min(maxPairs, max(minPairs, int(measuredSeconds/first.Wall)))
	var pairs []paired.Pair
	for i := range n {
		order := []string{"", filepath.Join(w.dir, "trace-2")}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		var p paired.Pair
		for _, trace := range order {
			if dir, err = w.in(ctx, "cpu"); err != nil {
				return err
			}
			program, _, err := w.start(ctx, dir, trace)
			if err != nil {
				return err
			}
			if program.Code != first.Code {
				w.record.Ratio = nil // it did not do the same work; the part "run" says so
				return nil
			}
			if trace == "" {
				p.Without = program.CPU
			} else {
				p.With = program.CPU
			}
		}
		pairs = append(pairs, p)
	}
	r := ratio{Pairs: n}
	r.Value, r.Lower, r.Upper = paired.Ratio(pairs)
	for _, p := range pairs {
		r.Native += p.Without / float64(n)
	}
	w.record.Ratio = &r
	return nil
}
