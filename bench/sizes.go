package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Targets of sizes.
const (
	minSmaller      = 10   // times, geometric mean against the peer
	minPeerBytes    = 2000 // of a peer's trace that counts for the mean
	maxSimulated    = 1023 // bytes of a simulated stencil without timing
	maxReadingBytes = 0.1  // of a reading of the clock, with lossy timing
)

// A peerRow is a program and the bytes of its trace by Pilgrim, and after zstd -19.
type peerRow struct {
	program, arguments string
	ranks              int
	pilgrim, zstd      float64
}

var ownRows = []peerRow{
	{"stencil", "2 0 100", 4, 1338, 486},
	{"stencil", "2 0 100", 16, 3226, 756},
	{"stencil", "2 0 10000", 16, 3226, 752},
	{"stencil", "2 0 100", 64, 3418, 786},
	{"stencil", "3 1 100", 8, 3246, 700},
	{"stencil", "3 1 100", 27, 4706, 970},
	{"stencil", "3 1 100", 64, 4854, 978},
	{"ring", "100", 16, 1106, 418},
	{"ring", "100", 64, 1298, 418},
	{"rowscolumns", "20", 16, 3452, 653},
	{"rowscolumns", "20", 64, 3644, 680},
	{"masterworker", "50", 4, 6596, 1215},
	{"masterworker", "50", 16, 26876, 3720},
	{"masterworker", "50", 64, 158098, 19801},
}

// npbRows lack the OSU micro-benchmarks: with how many iterations the peer's were measured was not
// kept.
var npbRows = []peerRow{
	{"bt.S", "", 4, 9074, 1353}, {"bt.S", "", 16, 58290, 5591},
	{"cg.S", "", 4, 2342, 656}, {"cg.S", "", 16, 4772, 941}, {"cg.S", "", 32, 7078, 1318},
	{"ep.S", "", 16, 678, 324}, {"ft.S", "", 16, 882, 414},
	{"is.S", "", 4, 6836, 1050}, {"is.S", "", 16, 20622, 3636},
	{"lu.S", "", 4, 3700, 810}, {"lu.S", "", 16, 7028, 1462}, {"lu.W", "", 4, 5452, 967},
	{"lu.W", "", 16, 8406, 1593},
	{"mg.S", "", 4, 7710, 1206}, {"mg.S", "", 16, 12854, 2282}, {"mg.S", "", 64, 27714, 5752},
	{"sp.S", "", 4, 7328, 1090}, {"sp.S", "", 16, 19302, 3410},
}

func traceSizes(b *bench) {
	var smaller []float64
	row := func(r peerRow, program string) {
		name := strings.TrimSpace(fmt.Sprintf("%s %s, %d ranks", r.program, r.arguments, r.ranks))
		trace, err := b.trace("--call-sites none", mpirun("openmpi", r.ranks,
			append([]string{program}, strings.Fields(r.arguments)...)...))
		if err != nil {
			b.check(name, false, err.Error())
			return
		}
		f := b.info(trace)
		b.row(name, val("calls", f.Calls), val("Pilgrim", r.pilgrim),
			val("bytes", f.counted()).atMost(r.zstd), val("container", f.Bytes.Container),
			val("signatures", f.Bytes.Signatures), val("grammar", f.Bytes.Grammar),
			val("rank map", f.Bytes.RankMap), val("values", f.Bytes.Values))
		if r.pilgrim >= minPeerBytes {
			smaller = append(smaller, r.pilgrim/f.counted())
		}
	}
	for _, r := range ownRows {
		program := b.path(r.program)
		if _, err := os.Stat(program); err != nil {
			b.compile(r.program, "mpicc.openmpi", r.program+".c")
		}
		row(r, program)
	}
	if b.hasNPB() {
		var names []string
		for _, r := range npbRows {
			names = append(names, fmt.Sprintf("%s.%d", r.program, r.ranks))
		}
		folder := b.buildNPB("openmpi", names...)
		for i, r := range npbRows {
			row(r, filepath.Join(folder, names[i]))
		}
	}
	b.row("where Pilgrim writes 2 KB or more", val("rows", float64(len(smaller))),
		val("times smaller", stat.GeometricMean(smaller, nil)).atLeast(minSmaller))
	for _, program := range []string{"ring", "stencil", "collectives",
		"master_worker"} { // examples, without a peer
		for _, ranks := range []int{4, 16} {
			f := b.info(get(b.trace("", mpirun("openmpi", ranks, example("openmpi", program)))))
			b.row(fmt.Sprintf("example %s, %d ranks", program, ranks), val("calls", f.Calls),
				val("all bytes", f.Bytes.Total), val("counted", f.counted()))
		}
	}
}

// traceClock: the cost of reading the clock in most calls of a program, as a part of its whole
// trace.
func traceClock(b *bench) {
	const ranks, steps = 4, 2000
	// two around each of 8 timers, two around the messages of a step
	const readings = ranks * steps * 18
	for _, mpi := range b.words("MPIS") {
		program := b.compile("clock."+mpi, "mpicc."+mpi, "clock.c")
		for _, timing := range []string{"lossy", "lossless"} {
			f := b.info(get(b.trace("--call-sites none --timing "+timing,
				mpirun(mpi, ranks, program, fmt.Sprint(steps)))))
			if f.Bytes.ClockReadings == 0 {
				fail("the trace has no readings")
			}
			each := val("bytes/reading", f.Bytes.ClockReadings/readings)
			if timing == "lossy" {
				each = each.atMost(maxReadingBytes)
			}
			b.row(mpi+" "+timing, val("bytes", f.Bytes.ClockReadings), val("of trace", f.Bytes.Total), each)
		}
	}
}

const untimed = "--no-replay --call-sites none --timing aggregated "

func traceSimulated(b *bench) {
	flat, round := "--pattern stencil2d", "--pattern stencil3d --periodic"
	row := func(options, trace string) {
		f := b.info(trace)
		b.row(strings.NewReplacer("--pattern ", "", "--", "").Replace(options),
			val("bytes", f.counted()).atMost(maxSimulated).exact())
	}
	sizes, iterations, many := [][]int{{9, 64, 4096}, {27, 512, 4096}}, []int{1000, 100000},
		[]int{16384}
	if b.given("LARGE") {
		iterations, many = append(iterations, 10000000), append(many, 65536, 1048576)
	}
	for i, pattern := range []string{flat, round} {
		var all []string
		for _, ranks := range sizes[i] {
			all = append(all, fmt.Sprintf("%s --ranks %d", pattern, ranks))
		}
		for _, n := range iterations {
			all = append(all, fmt.Sprintf("%s --ranks %d --iterations %d", pattern, sizes[i][0], n))
		}
		for _, options := range all {
			row(options, b.simulate(untimed+options))
		}
		for _, ranks := range many { // with shards and a tree of merges
			options := fmt.Sprintf("%s --ranks %d", pattern, ranks)
			row(options, b.mergeJob(b.simulateJob(untimed+options), 256).trace)
		}
	}
}
