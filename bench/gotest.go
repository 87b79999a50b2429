package main

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A measurement is a line in the output of a Go benchmark.
type measurement struct {
	name   string             // "Rates/sizes=5/noise=1%", without the number of processors
	values map[string]float64 // by unit
}

// get returns a value that the benchmark must have.
func (m measurement) get(unit string) float64 {
	v, ok := m.values[unit]
	if !ok {
		fail("%s says nothing of %s", m.name, unit)
	}
	return v
}

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// measured parses a line of a Go benchmark.
func measured(line string) (m measurement, ok bool) {
	parts := benchmarkLine.FindStringSubmatch(line)
	if parts == nil {
		return m, false
	}
	m = measurement{parts[1], map[string]float64{}}
	words := strings.Fields(parts[2])
	for i := 1; i < len(words); i += 2 {
		x, err := strconv.ParseFloat(words[i-1], 64)
		if err != nil {
			return m, false
		}
		m.values[words[i]] = x
	}
	return m, true
}

// goBench runs Go benchmarks of packages of the tree, sorted by name. More arguments may follow the
// packages.
func (b *bench) goBench(pattern, time string, packages ...string) (all []measurement) {
	words := []string{"go", "test", "-run", "^$", "-bench", pattern, "-benchtime", time, "-timeout",
		"2h"}
	for line := range strings.Lines(b.run(append(words, packages...)...)) {
		if m, ok := measured(strings.TrimSpace(line)); ok {
			all = append(all, m)
		}
	}
	if len(all) == 0 {
		fail("go test -bench %s has no benchmarks", pattern)
	}
	slices.SortFunc(all, func(a, b measurement) int { return cmp.Compare(a.name, b.name) })
	return all
}

// goTest runs a test or benchmark that prints its own table. Its lines are printed as they come.
// Benchmarks, and lines that a row recognizes, are rows.
func (b *bench) goTest(row func(line string) (string, []value), words ...string) {
	c := b.command(append([]string{"go", "test", "-count=1", "-timeout", "170m"}, words...)...)
	c.Stderr = os.Stderr
	b.stream(row, get(c.StdoutPipe()), c.Start, c.Wait)
}

func (b *bench) stream(row func(line string) (string, []value), from io.Reader, start,
	wait func() error) {
	must(start())
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), " ")
		if name, values := row(line); values != nil {
			b.row(name, values...)
		} else if !frame.MatchString(line) {
			b.note("%s", line)
		}
	}
	must(wait())
}

// frame matches the lines of the testing package.
var frame = regexp.MustCompile(`^\s*(===|---|ok\s|PASS|goos:|goarch:|pkg:|cpu:)`)

// benchmarked recognizes the lines of Go benchmarks.
func benchmarked(line string) (string, []value) {
	m, ok := measured(line)
	if !ok {
		return "", nil
	}
	return m.name, m.all()
}

// all are the values without targets.
func (m measurement) all() (row []value) {
	for unit, x := range m.values {
		row = append(row, val(unit, x))
	}
	slices.SortFunc(row, func(a, b value) int { return cmp.Compare(a.Name, b.Name) })
	return row
}

func parts(b *bench) {
	for _, m := range b.goBench(".", "200ms", "./trace/...", "./tracer/recorder/...", "./merger",
		"./analyzer/...") {
		b.row(m.name, m.all()...)
	}
}

// judged is a row of a test: what, seconds, the error and its target in percent.
var judged = regexp.MustCompile(
	`^(.*?) +[0-9.]+ s .*([+-][0-9.]+)% +([0-9.]+)% (?:pass|miss|MISS)$`)

func differences(line string) (string, []value) {
	m := judged.FindStringSubmatch(line)
	if m == nil {
		return "", nil
	}
	n := get(parse(m[2:]))
	return strings.Join(strings.Fields(m[1]), " "), []value{val("off, %", n[0]).within(n[1])}
}

func predictions(b *bench) {
	must(os.Setenv("CAIRN_BENCH_PREDICT", b.param("PAIRS")))
	b.goTest(differences, "-tags", "mpi,netgo,osusergo", "-v", "-run", "Test(Network)?Predictions", "./test/mpi")
}

func replayTimes(b *bench) {
	must(os.Setenv("CAIRN_BENCH_PREDICT", b.param("PAIRS")))
	b.goTest(differences, "-tags", "mpi,netgo,osusergo", "-v", "-run", "TestReplayTimes", "./test/mpi")
}

func long(b *bench) {
	b.goTest(benchmarked, "-run", "^$", "-bench", "Irregular", "-benchtime", "1x",
		"./tracer/recorder/spool")
	for _, name := range []string{"HOURS", "SLOTS", "IRREGULAR"} {
		must(os.Setenv(name, b.param(name)))
	}
	b.goTest(benchmarked, "-run", "^$", "-bench", "Long", "-benchtime", "1x", "./shipper")
}

var medianSeconds = regexp.MustCompile(`^(.+?)  +([0-9.]+)  \([0-9.]+, [0-9.]+\)$`)

func operator(b *bench) {
	c := b.command("hack/e2e.sh", "-run", "^$", "-bench", "Seconds", "-benchtime",
		b.param("PAIRS")+"x")
	c.Stderr = os.Stderr
	b.stream(func(line string) (string, []value) {
		m := medianSeconds.FindStringSubmatch(line)
		if m == nil {
			return "", nil
		}
		return m[1], []value{val("s", get(strconv.ParseFloat(m[2], 64)))}
	}, get(c.StdoutPipe()), c.Start, c.Wait)
}

// clusterTargets are the maximum seconds of each benchmark of groups of ranks.
var clusterTargets = map[string]float64{"groups": 1, "program": 5, "topology": 60}

func clustersOfMany(b *bench) {
	for _, m := range b.goBench("Clusters", "3x", "./analyzer/clusters") {
		seconds := val("s", m.get("ns/op")/1e9)
		if limit, ok := clusterTargets[path.Base(m.name)]; ok {
			seconds = seconds.atMost(limit)
		}
		b.row(m.name, seconds, val("MiB", m.get("MiB")))
	}
}

// decodeTargets are million calls per second and core, by prefix of the benchmark.
var decodeTargets = map[string]float64{"Cursor/timing=false": 20, "Cursor/timing=true": 10}

func traceDecode(b *bench) {
	for _, m := range b.goBench("Cursor|Sequitur", "1s", "./trace", "./trace/grammar") {
		ns, ok := m.values["cpu-ns/op"]
		if perCall, per := m.values["cpu-ns/call"]; per {
			ns, ok = perCall, true
		}
		if !ok {
			b.row(m.name, m.all()...)
			continue
		}
		speed := val("million calls/s/core", 1e3/ns)
		speed.Higher = true
		if limit := decodeTargets[m.name]; limit > 0 {
			speed = speed.atLeast(limit)
		}
		b.row(m.name, speed)
	}
}

// Targets of timing.
const (
	minTimedCalls = 10  // million calls read per CPU second
	maxBytes5     = 1.4 // per call, at 5 %
	maxBytes20    = 1.0 // per call, at 20 %
	maxBeyondKT   = 1.1 // times the Krichevsky-Trofimov code length
)

// traceTiming traces programs with lossless and with lossy timing; the lossless intervals are
// rounded to 5 % and 20 % and encoded.
func traceTiming(b *bench) {
	for _, m := range b.goBench("TimingCodec|TimingRound", "200ms", "./trace", "./trace/timing") {
		b.row(m.name, m.all()...)
	}
	if !b.hasNPB() {
		return
	}
	programs := []string{"cg.S.4", "bt.S.4", "sp.S.4", "mg.S.4", "lu.S.4", "lu.W.4"}
	folder, yield := b.buildNPB("mpich", programs...), b.yield()
	for _, program := range programs {
		for _, timing := range []string{"lossless", "lossy"} {
			trace := get(b.trace("--call-sites none --timing "+timing,
				mpirun("mpich", 4, path.Join(folder, program)), "LD_PRELOAD="+yield))
			must(os.MkdirAll(b.path("traces/"+program+"."+timing), 0o755))
			must(os.Rename(trace, b.path("traces/"+program+"."+timing+"/trace.cairn")))
		}
	}
	for _, m := range b.goBench("TimingOf", "200ms", "./trace", "-traces",
		b.path("traces/*/trace.cairn")) {
		b.row(m.name, timing(m)...)
	}
}

func timing(m measurement) []value {
	switch parts := strings.Split(m.name, "/"); {
	case len(parts) == 3 && parts[1] == "cursor":
		return []value{val("million calls/s/core", m.get("Mcalls/cpu-s")).atLeast(minTimedCalls)}
	case len(parts) == 4 && parts[1] == "size":
		limit, bytes := maxBytes20, m.get("bytes/call")
		if parts[3] == "5%" {
			limit = maxBytes5
		}
		return []value{val("bytes/call", bytes).atMost(limit),
			val("of KT", bytes/m.get("KT-bytes/call")).atMost(maxBeyondKT)}
	}
	return m.all()
}
