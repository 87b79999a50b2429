package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/apps/catalog"
	"github.com/cairn-mpi/cairn/bench/strangers"
)

// Targets of the examination, as shares of the runs that count.
const (
	mostRight  = 0.9
	falseBlame = 0.01
)

// drawsPerCase limits how many cases are drawn for each that counts: programs may be too short, and
// the machine may have other load.
const drawsPerCase = 20

// triesPerRun limits how often a run is made that other load disturbs.
const triesPerRun = 3

// strangersBench examines the verdict with faults from outside in programs of the corpus.
func strangersBench(b *bench) {
	for _, folder := range []string{"test/yield", "bench/strangers/stretch"} {
		b.run("make", "-s", "-C", filepath.Join(b.root, folder))
	}
	seed := uint64(b.number("SEED"))
	folder := filepath.Join(b.root, "out", "bench", "strangers")
	must(os.MkdirAll(folder, 0o755))
	results := get(strangers.OpenResults(filepath.Join(folder, fmt.Sprintf("runs-%d.jsonl", seed))))
	defer func() { must(results.Close()) }()
	e := &examination{bench: b, results: results, heldOut: map[string]bool{}}
	e.machine = &strangers.Machine{
		Root: b.folder, Dir: b.path("run"), Traces: filepath.Join(folder, "traces"),
		LockFile: cmp.Or(b.param("LOCK"), filepath.Join(os.TempDir(), "cairn-bench.lock")),
		Programs: get(catalog.Read(catalog.Folder)),
	}
	e.drawing = strangers.Drawing{Seed: seed}
	for _, c := range b.words("CLASSES") {
		e.drawing.Classes = append(e.drawing.Classes, strangers.Class(c))
	}
	if b.given("FAULTS") {
		e.drawing.Faults = b.words("FAULTS")
	}
	e.choose()
	b.note("seed %d", seed)
	wanted := b.number("CASES")
	for index := range drawsPerCase * wanted {
		if wanted > 0 && e.examine(index) {
			wanted--
		}
	}
	e.report()
}

// An examination is a run of the case strangers.
type examination struct {
	*bench
	machine *strangers.Machine
	results *strangers.Results
	drawing strangers.Drawing
	heldOut map[string]bool // by program
}

// choose chooses the programs that are installed and wanted. Those that are held out run with
// FINAL=1 only.
func (e *examination) choose() {
	for name := range heldOut(e.machine.Programs) {
		e.heldOut[name] = true
	}
	for _, p := range e.machine.Programs {
		if wanted := e.words("PROGRAMS"); len(wanted) > 0 && !slices.Contains(wanted, p.Name) ||
			e.heldOut[p.Name] && !e.given("FINAL") {
			continue
		}
		if _, err := p.InstalledVersion(); err != nil {
			e.note("not possible here: %v", err)
			continue
		}
		for _, c := range p.Commands {
			e.drawing.Subjects = append(e.drawing.Subjects, strangers.Subject{Program: p.Name, MPI: c.MPI, Ranks: c.Ranks})
		}
	}
}

// heldOut is half of the programs: every second one in the order of a hash of their names.
func heldOut(programs []*catalog.Program) map[string]bool {
	var names []string
	for _, p := range programs {
		names = append(names, p.Name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), strings.Compare(a, b)) })
	held := map[string]bool{}
	for i, name := range names {
		if i%2 == 1 {
			held[name] = true
		}
	}
	return held
}

func hash(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// examine makes those runs of a case that were not made before, and reports whether all of them
// count. What else waits for the machine does not come between them.
func (e *examination) examine(index int) bool {
	c, seed := get(e.drawing.Case(index)), e.drawing.Seed
	if e.results.Of(seed, index, 0) == nil && e.results.TooShort(c) {
		return false
	}
	locked := false
	for turn := range strangers.TurnsOf(e.number("PAIRS")) {
		r := e.results.Of(seed, index, turn)
		if r == nil {
			if !locked {
				defer get(e.machine.Lock(e.ctx))()
				locked = true
			}
			for try := 0; try == 0 || try < triesPerRun && r.WasDisturbed(); try++ {
				r = get(e.machine.Run(e.ctx, c, turn, e.results.Of(seed, index, 0)))
				r.Seed, r.HeldOut = seed, e.heldOut[c.Program]
				must(e.results.Add(r))
				e.note("%v (%s): %s", c, turn, cmp.Or(r.Impossible, r.Discarded, r.Failed, fmt.Sprintf("%.2f s", r.Seconds)))
			}
		}
		if !r.Counts() {
			return false
		}
	}
	return true
}

// report prints what all runs of the seed show. A target is missed if the share is beyond it by
// more than chance, so that it can be missed by few runs, but not by chance.
func (e *examination) report() {
	var text strings.Builder
	all := get(e.results.Report(&text))
	e.note("\n%s", text.String())
	for _, held := range []bool{false, true} {
		s, name := strangers.Summarize(all, held), map[bool]string{false: "programs", true: "programs held out"}[held]
		if n := s.Large.N(); n > 0 {
			low, high := strangers.Bounds(s.Large[strangers.Right], n)
			e.row(name+": faults", val("n", float64(n)), val("right, %", percent(s.Large[strangers.Right], n)),
				val("lower bound, %", 100*low), val("upper bound, %", 100*high).atLeast(100*mostRight))
		}
		blamed := s.Controls[strangers.FalseBlame]
		if n := s.Controls.N(); n > 0 {
			low, high := strangers.Bounds(blamed, n)
			e.row(name+": no fault", val("n", float64(n)), val("false blame, %", percent(blamed, n)),
				val("lower bound, %", 100*low).atMost(100*falseBlame), val("upper bound, %", 100*high))
		}
	}
}

func percent(k, n int) float64 { return 100 * float64(k) / float64(n) }
