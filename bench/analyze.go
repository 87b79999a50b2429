package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Targets of the analysis.
const (
	billionSeconds  = 480
	maxGrowth       = 1.3 // of memory and of CPU time per event, with the number of events
	maxSpooledBytes = 5e9
	maxPageMiB      = 3
	largeMiB        = 1024 // memory for large traces
	billionMiB      = 2048
)

// maxEventMicros is the maximum CPU time per event in µs, by number of ranks.
var maxEventMicros = map[int]float64{16: 0.5, 256: 0.8, 1024: 1.0}

// analyzeStencils: stencils with a slow rank become reports, including reading, all analyses with
// the verdict's scenarios, and the page.
func analyzeStencils(b *bench) {
	row := func(ranks, events int) {
		trace := b.simulate(fmt.Sprintf("--pattern stencil2d --ranks %d --iterations %d "+
			"--noise-percent 10 --slow-rank 3 --slow-percent 30",
			ranks, events/ranks/9+1), lossy...)
		calls := b.info(trace).Calls
		report := b.fresh("report")
		u := get(b.usage("cairn-analyze-", "bin/cairn", "analyze", trace, "-o", report))
		each, wall, memory := val("µs/event", u.cpu/calls*1e6), val("wall, s", u.wall),
			val("peak, MiB", u.mib)
		if limit, ok := maxEventMicros[ranks]; ok {
			each = each.atMost(limit)
		}
		switch billion := calls > 500e6; {
		case billion:
			wall, memory = wall.atMost(billionSeconds), memory.atMost(billionMiB)
		case calls > 50e6 || ranks >= 16384:
			memory = memory.atMost(largeMiB)
		}
		b.row(fmt.Sprintf("%d ranks, %.0f events", ranks, calls), each, wall, memory,
			val("files, MB", u.files/1e6).atMost(maxSpooledBytes/1e6),
			val("page, MiB", fileBytes(filepath.Join(report, "index.html"))/(1<<20)).atMost(maxPageMiB),
			val("JSON, MiB", fileBytes(filepath.Join(report, "report.json"))/(1<<20)))
	}
	for _, ranks := range get(parse(b.words("RANKS"))) {
		row(int(ranks), b.number("EVENTS"))
	}
	if b.given("LARGE") {
		row(1024, 100e6)
	}
	if b.given("BILLION") {
		row(256, 1e9)
	}
}

// analyzeMemory: the critical path alternates between two ranks, in a trace and in one with eight
// times as many events.
func analyzeMemory(b *bench) {
	var mib [2]float64
	for i, times := range []int{1, 8} {
		trace := b.simulate(fmt.Sprintf("--pattern butterfly --ranks 2 --iterations %d "+
			"--noise-percent 40", b.number("EVENTS")*times), lossy...)
		mib[i] = b.used("bin/cairn", "analyze", trace, "-o", b.fresh("report")).mib
	}
	b.row("two ranks", val("MiB, an eighth", mib[0]), val("MiB, all", mib[1]),
		val("ratio", mib[1]/mib[0]).atMost(maxGrowth))
}

// irregulars are programs with hardly any repetition.
var irregulars = []struct {
	name    string
	ranks   int
	options string
}{
	{"random", 1, "--pattern random"},
	{"random", 16, "--pattern random"},
	{"many kinds", 16, "--pattern random --variety 100000"},
	{"regridding", 64, "--pattern irregular --regrid 1"},
	{"master-worker", 64, "--pattern master-worker --noise-percent 90"},
}

func analyzeIrregular(b *bench) {
	commands := []string{"analyze -o %o", "program", "clusters", "placement",
		"predict --ideal-network", "compare %t", "reduce --leads -o %o", "export -o %o", "dump", "info"}
	for _, p := range irregulars {
		micros := make([][]float64, len(commands)) // per call, of a quarter and of all
		var calls float64
		for _, part := range []int{4, 1} {
			trace := b.simulate(fmt.Sprintf("%s --ranks %d --iterations %d", p.options, p.ranks,
				b.number("EVENTS")/part/p.ranks+1), lossy...)
			calls = b.info(trace).Calls
			for i, command := range commands {
				name, more, _ := strings.Cut(command, " ")
				arguments := strings.Fields(strings.NewReplacer("%t", trace, "%o",
					b.fresh("result")).Replace(more))
				u := b.used(append([]string{"bin/cairn", name, trace}, arguments...)...)
				micros[i] = append(micros[i], u.cpu/calls*1e6)
			}
		}
		for i, command := range commands {
			name, _, _ := strings.Cut(command, " ")
			b.row(fmt.Sprintf("%s, %d ranks, %.0f calls: %s", p.name, p.ranks, calls, name),
				val("µs/call, quarter", micros[i][0]),
				val("µs/call, all", micros[i][1]), val("ratio", micros[i][1]/micros[i][0]).atMost(maxGrowth))
		}
	}
}
