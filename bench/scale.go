package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// rateTargets are percentages by the noise between runs: none, some, and 5 %.
var rateTargets = []struct {
	unit                string
	most                bool // the target is a maximum, otherwise a minimum
	exact, usual, noisy float64
}{
	{"%right-term", false, 98, 80, 55},
	{"%false-alarms", true, 0, 5, 5},
	{"%error-4x", true, 1, 8, 15},
	{"%error-16x", true, 1, 15, 30},
	{"%in-interval", false, 99, 80, 80},
	{"%right-hurts-first", false, 100, 85, 70},
}

// minRates is the number of combinations of sizes, runs and noise.
const minRates = 12

// scaleRates: how often the term is right where it is one that programs often have, how often a
// constant is taken to grow, the median error of what grows at 4 and 16 times the largest size, how
// often the truth is in the interval, and how often what hurts first is named.
func scaleRates(b *bench) {
	all := b.goBench("Rates", "1x", "./analyzer/scaling")
	if len(all) < minRates {
		fail("there are %d lines, fewer than %d", len(all), minRates)
	}
	for _, m := range all {
		b.row(m.name, rates(m)...)
	}
}

func rates(m measurement) (row []value) {
	for _, t := range rateTargets {
		v, limit := val(t.unit, m.get(t.unit)), t.usual
		switch {
		case strings.Contains(m.name, "noise=0%"):
			limit = t.exact
		case strings.Contains(m.name, "noise=5%"):
			limit = t.noisy
		}
		if t.most {
			v = v.atMost(limit)
		} else {
			v = v.atLeast(limit)
		}
		row = append(row, v)
	}
	return row
}

// maxTimeOff is the maximum error in percent of the time of the example's computation.
const maxTimeOff = 15

// scaleUnseen predicts the largest size from the others. The ranks of the example sleep to compute,
// so its times are valid on a machine with fewer processors than ranks. The kernels of NPB do not:
// only their calls and bytes count.
func scaleUnseen(b *bench) {
	must(os.Mkdir(b.path("traces"), 0o755))
	record := func(name string, ranks, run int, words ...string) {
		trace := get(b.trace("", mpirun("openmpi", ranks, words...)))
		must(os.Rename(trace, b.path(fmt.Sprintf("traces/%s-%d-%d.cairn", name, ranks, run))))
	}
	for run := range 3 {
		for _, ranks := range []int{2, 3, 4, 6, 8, 16} {
			record("stencil", ranks, run, example("openmpi", "stencil"), "--iterations", "20", "--work-us",
				fmt.Sprint(128000/ranks))
		}
	}
	if b.hasNPB() {
		for _, kernel := range []string{"cg", "mg", "ft", "is", "ep"} {
			for _, ranks := range []int{1, 2, 4, 8, 16, 32} {
				program := fmt.Sprintf("%s.S.%d", kernel, ranks)
				record(kernel, ranks, 0, filepath.Join(b.buildNPB("openmpi", program), program))
			}
		}
	}
	must(os.Setenv("HELD_BACK", b.path("traces")))
	for _, m := range b.goBench("HeldBack", "1x", "./analyzer/scaling") {
		b.row(m.name, unseen(m)...)
	}
}

func unseen(m measurement) []value {
	row := []value{
		val("ranks", m.get("held-back")), val("sites", m.get("sites")),
		val("calls right", m.get("calls-right")).atLeast(m.get("call-models")),
		val("bytes right", m.get("bytes-right")).atLeast(m.get("byte-models")),
	}
	if strings.HasSuffix(m.name, "/stencil") { // the only program that sleeps instead of computing
		row = append(row, val("time off, %", m.get("%time-off")).within(maxTimeOff))
	}
	return row
}
