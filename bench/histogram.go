package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
)

// Targets of traces of histograms.
const (
	maxHistogramGrowth = 1.1
	maxMedianOff       = 25 // % of median durations of a call
)

var (
	exactSums = regexp.MustCompile(`(?m)^compared with the whole trace: calls by function ` +
		`off by 0%, bytes by 0%, time by 0%, time of the run by 0%; the median`)
	saidMedian = regexp.MustCompile(`median duration of a call by ([0-9.]+)%`)
	saidMatrix = regexp.MustCompile(`relative L1 error ([0-9.]+)\)`)
)

func histograms(b *bench) {
	n := b.number("ITERATIONS")
	simulated := func(pattern string, ranks, iterations int) string {
		options := fmt.Sprintf("--pattern %s --ranks %d --iterations %d --noise-percent 30 --seed 3",
			pattern, ranks, iterations)
		if pattern == "random" {
			options += " --variety 40"
		}
		return b.simulate(options, lossy...)
	}
	for _, pattern := range []string{"irregular", "master-worker", "random"} {
		first := 0.0
		for _, times := range []int{1, 10, 100} {
			first = b.histogram(fmt.Sprintf("%s, 16 ranks, ×%d", pattern, times), first,
				simulated(pattern, 16, n*times))
		}
		first = 0
		for _, ranks := range []int{16, 64, 256} {
			if pattern != "random" {
				first = b.histogram(fmt.Sprintf("%s, %d ranks", pattern, ranks), first,
					simulated(pattern, ranks, n))
			}
		}
	}
	first := 0.0
	for _, times := range []int{1, 10, 100} {
		job := mpirun("openmpi", 4, example("openmpi", "farm"), "--work-us", "20", "--rounds",
			fmt.Sprint(10*times))
		first = b.histogram(fmt.Sprintf("farm, recorded, ×%d", times), first, get(b.trace("", job)))
	}
	if b.hasNPB() {
		folder := b.buildNPB("openmpi", "mg.S.4", "sp.S.4")
		for _, program := range []string{"mg.S.4", "sp.S.4"} {
			b.histogram(program+", recorded", 0, get(b.trace("",
				mpirun("openmpi", 4, filepath.Join(folder, program)))))
		}
	}
}

// histogram reduces a trace and compares its size with that of the first of a series (0: it is the
// first). It returns the size of the first.
func (b *bench) histogram(name string, first float64, trace string) float64 {
	small := b.path("small.cairn")
	said := b.run("bin/cairn", "reduce", "--histogram", trace, "-o", small)
	figure := func(what *regexp.Regexp) float64 {
		m := what.FindStringSubmatch(said)
		if m == nil {
			fail("cairn reduce does not say %s: %s", what, said)
		}
		return get(strconv.ParseFloat(m[1], 64))
	}
	bytes := fileBytes(small)
	if first == 0 {
		first = bytes
	}
	exact := 0.0
	if exactSums.MatchString(said) {
		exact = 1
	}
	b.row(name, val("trace, bytes", fileBytes(trace)), val("bytes", bytes),
		val("growth", bytes/first).atMost(maxHistogramGrowth),
		val("sums exact", exact).atLeast(1), val("medians off, %",
			figure(saidMedian)).atMost(maxMedianOff), val("matrix off", figure(saidMatrix)))
	return first
}
