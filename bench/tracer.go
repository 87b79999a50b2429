package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/bench/paired"
	"github.com/cairn-mpi/cairn/tracer/compressor"
)

// Targets of the tracer.
const (
	maxAdded        = 100    // ns per call
	maxClocks       = 2      // times what reading the clock twice adds
	maxCold         = 200    // ns per call when the caches belong to the program
	minClock        = 0.1    // ns; least cost of the clock, for the ratio
	maxLongest      = 200000 // ns of an iteration, or twice the wrapper's
	maxFinalize     = 5      // ms
	maxMemory       = 32     // MiB
	maxEvidence     = 0.1    // % of the time
	maxProgram      = 1.02   // times the CPU time of whole programs
	minProgramPairs = 15
)

// configs are configurations of the tracer. What an option costs is the difference to the first.
const configs = `lossy {"call_sites":"none","timing":"lossy"}
lossless {"call_sites":"none","timing":"lossless"}
aggregated {"call_sites":"none","timing":"aggregated"}
caller {"call_sites":"caller","timing":"lossy"}
path {"call_sites":"path","timing":"lossy"}
pointers {"call_sites":"none","timing":"lossy","pointers":true}`

// siteConfigs are the configurations that differ in what is kept of call sites.
const siteConfigs = `lossy {"call_sites":"none","timing":"lossy"}
caller {"call_sites":"caller","timing":"lossy"}
path {"call_sites":"path","timing":"lossy"}`

// loops of calls.c.
var loops = []string{"Comm_rank", "Iprobe", "Isend+Irecv+Waitall", "Allreduce(self)", "Waitany(16)"}

// coldCalls are the kinds of calls of cold.c.
var coldCalls = []string{"type_size", "iprobe", "isend", "wait"}

// A preloader runs programs with a copy of the tracer.
type preloader struct {
	*bench
	configs map[string]string // config.json by name
	names   []string          // of the configurations, in order
	floors  map[string]string // wrappers by name and MPI
}

func (b *bench) preloader(configurations string) *preloader {
	p := &preloader{bench: b, configs: map[string]string{}, floors: map[string]string{}}
	for line := range strings.Lines(configurations) {
		name, config, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.configs[name], p.names = config, append(p.names, name)
	}
	must(os.CopyFS(b.path("root/lib"), os.DirFS(filepath.Join(b.folder, "lib"))))
	return p
}

// addFloors compiles the wrappers noop, which does nothing, and stamps, which reads the clock
// twice.
func (p *preloader) addFloors(mpi string) {
	p.floors["noop "+mpi] = p.compile("noop."+mpi+".so", "mpicc."+mpi, "floor.c", "-fPIC", "-shared")
	p.floors["stamps "+mpi] = p.compile("stamps."+mpi+".so", "mpicc."+mpi, "floor.c", "-fPIC",
		"-shared", "-DSTAMPS")
}

// library returns what a variant preloads, if anything. A configuration of the tracer gets an empty
// spool.
func (p *preloader) library(mpi, variant string) string {
	if variant == "alone" {
		return ""
	}
	if floor := p.floors[variant+" "+mpi]; floor != "" {
		return floor
	}
	spool, config := p.fresh("root/spool"), p.configs[variant]
	must(os.Mkdir(spool, 0o755))
	p.write("root/config.json", fmt.Sprintf(`{"enabled":true,"spool":%q,%s`, spool,
		strings.TrimPrefix(config, "{")))
	shim := p.path("root/lib/libcairn-" + mpi + ".so")
	if strings.Contains(config, `"pointers":true`) {
		return p.path("root/lib/libcairn-allocations.so") + ":" + shim
	}
	return shim
}

// preload returns the words before a program that preload what its variant needs.
func (p *preloader) preload(mpi, variant string) []string {
	if library := p.library(mpi, variant); library != "" {
		return []string{"env", "LD_PRELOAD=" + library}
	}
	return nil
}

// start runs a variant of a program on one rank.
func (p *preloader) start(mpi, variant string, words ...string) string {
	words = slices.Concat(p.preload(mpi, variant), words)
	defer p.compress(variant)()
	return p.run(mpirun(mpi, 1, words...)...)
}

func tracerCalls(b *bench) {
	p := b.preloader(cmp.Or(b.param("CONFIGS"), configs))
	variants := append([]string{"alone", "noop", "stamps"}, p.names...)
	for _, mpi := range b.words("MPIS") {
		p.addFloors(mpi)
		program := b.compile("calls."+mpi, "mpicc."+mpi, "calls.c", "-pthread")
		for _, threads := range b.words("THREADS") {
			r := alternately(b.number("PAIRS"), variants, func(v string) string {
				return p.start(mpi, v, program, b.param("CALLS"), threads)
			})
			for _, config := range p.names {
				for _, loop := range loops {
					b.row(strings.Join([]string{mpi, threads, loop, config}, " "),
						callCost(r, config, p.names[0], loop)...)
				}
			}
			for _, config := range p.names {
				b.row(strings.Join([]string{mpi, threads, "process", config}, " "), processCost(r, config)...)
			}
		}
	}
}

// callCost is the cost of a loop of calls.c: mean CPU time, 99.9th percentile and longest of its
// iterations, and how long that one slept and had no CPU, all in ns.
func callCost(r runs, config, first, loop string) []value {
	const mean, tail, longest, asleep, delayed = 0, 1, 2, 3, 4
	added := r.added(config, "alone", loop, mean)
	clocks := slices.Clone(added)
	for i, clock := range r.added("stamps", "alone", loop, mean) {
		clocks[i] /= max(clock, minClock)
	}
	floor := median(r.of("noop", loop, longest))
	return []value{
		val("alone, ns", median(r.of("alone", loop, mean))),
		val("no-op adds", median(r.added("noop", "alone", loop, mean))),
		val("clock adds", median(r.added("stamps", "alone", loop, mean))),
		val("added, ns", median(added)).atMost(maxAdded),
		val("of clock", median(clocks)).atMost(maxClocks),
		val("option, ns", median(r.added(config, first, loop, mean))),
		val("p99.9", median(r.of(config, loop, tail))), val("no-op's longest", floor),
		val("longest, ns", median(r.of(config, loop, longest))).atMost(max(maxLongest, 2*floor)),
		val("asleep", median(r.of(config, loop, asleep))),
		val("no CPU", median(r.of(config, loop, delayed))),
	}
}

// processCost is what a process has besides calls: allocations, MPI_Finalize and memory.
func processCost(r runs, config string) []value {
	added := func(line string) float64 { return median(r.added(config, "alone", line, 0)) }
	return []value{
		val("malloc+free adds, ns", added("malloc+free")),
		val("MPI_Finalize adds, ms", added("Finalize")/1e6).atMost(maxFinalize),
		val("resident, MiB", added("Memory")/1024).atMost(maxMemory),
	}
}

// tracerCold measures calls that find hardly anything of the tracer in the caches, as most calls of
// a program that computes do.
func tracerCold(b *bench) {
	const middle, lower = 0, 1 // quartiles
	p := b.preloader(cmp.Or(b.param("CONFIGS"), siteConfigs))
	variants := append([]string{"alone", "noop", "stamps"}, p.names...)
	for _, mpi := range b.words("MPIS") {
		p.addFloors(mpi)
		program := b.compile("cold."+mpi, "mpicc."+mpi, "cold.c")
		r := alternately(b.number("PAIRS"), variants, func(v string) string {
			return p.start(mpi, v, program, b.param("CALLS"))
		})
		added := func(v, call string, k int) float64 { return median(r.added(v, "alone", call, k)) }
		for _, call := range coldCalls {
			for _, config := range p.names {
				b.row(strings.Join([]string{mpi, call, config}, " "),
					val("alone, ns", median(r.of("alone", call, middle))),
					val("no-op adds", added("noop", call, middle)),
					val("clock adds", added("stamps", call, middle)),
					val("added, ns", added(config, call, middle)).atMost(maxCold),
					val("to the lower quartile", added(config, call, lower)))
			}
		}
	}
}

var collected = regexp.MustCompile(`Collected : ([0-9 ]+)`)

// tracerLines counts what the times of tracerCold come from: the lines of code and data that a call
// finds in no cache, as valgrind simulates them. The first-level caches are so small that each line
// is asked for in the last level. The difference of two runs does not include the first calls.
func tracerLines(b *bench) {
	const few, more, instructions, code, read, written = 200, 2200, 0, 6, 7, 8
	p := b.preloader(cmp.Or(b.param("CONFIGS"), siteConfigs))
	for _, mpi := range b.words("MPIS") {
		p.addFloors(mpi)
		program := b.compile("cold."+mpi, "mpicc."+mpi, "cold.c")
		count := func(variant, call string, calls int) []float64 {
			words := append(p.preload(mpi, variant), "valgrind", "--tool=callgrind", "--cache-sim=yes",
				"--I1=512,1,64", "--D1=512,1,64", "--LL=65536,16,64", "--toggle-collect="+call,
				"--callgrind-out-file=/dev/null", program, fmt.Sprint(calls), call, "131072")
			found := collected.FindStringSubmatch(get(b.said(mpirun(mpi, 1, words...)...)))
			if found == nil {
				fail("valgrind counted nothing in %s of %s", call, program)
			}
			return get(parse(strings.Fields(found[1])))
		}
		for _, call := range coldCalls {
			each := func(variant string) []float64 {
				counts := count(variant, call, more)
				for i, n := range count(variant, call, few) {
					counts[i] = (counts[i] - n) / (more - few)
				}
				return counts
			}
			alone := each("alone")
			for _, v := range append([]string{"noop", "stamps"}, p.names...) {
				n := each(v)
				b.row(strings.Join([]string{mpi, call, v}, " "), val("alone, lines of code", alone[code]),
					val("of data", alone[read]+alone[written]), val("added, lines of code", n[code]-alone[code]),
					val("added, of data", n[read]+n[written]-alone[read]-alone[written]),
					val("added, instructions", n[instructions]-alone[instructions]))
			}
		}
	}
}

// compress starts the compressor beside the processes of a variant, in this process. The returned
// function ends it.
func (p *preloader) compress(variant string) (end func()) {
	if p.configs[variant] == "" {
		return func() {}
	}
	return p.compressSpool(p.path("root/spool"))
}

// compressSpool starts a compressor in this process. The returned function ends it.
func (b *bench) compressSpool(spool string) (end func()) {
	c, err := compressor.Start(spool, func(format string, args ...any) { fail(format, args...) })
	must(err)
	return c.Close
}

// tracerStart measures a program that makes a hundred calls.
func tracerStart(b *bench) {
	const cpu, wall = 0, 1
	p := b.preloader(`short {"call_sites":"caller","timing":"lossy"}`)
	for _, mpi := range b.words("MPIS") {
		program := b.compile("start."+mpi, "mpicc."+mpi, "start.c")
		r := alternately(b.number("PAIRS"), []string{"alone", "short"}, func(v string) string {
			return p.start(mpi, v, program, "100")
		})
		for _, v := range p.names {
			b.row(mpi+" "+v, val("alone, ms of CPU", median(r.of("alone", "start", cpu))/1e6),
				val("added, ms of CPU", median(r.added(v, "alone", "start", cpu))/1e6),
				val("added, ms of wall time", median(r.added(v, "alone", "start", wall))/1e6))
		}
	}
}

// tracerEvidence measures gaps in which the thread sleeps. The budget is a part of the time, so the
// ratio counts.
func tracerEvidence(b *bench) {
	const cpu, wall = 0, 1
	p := b.preloader(`caller {"call_sites":"caller","timing":"lossy"}`)
	must(os.CopyFS(b.path("without"), os.DirFS(b.path("root/lib"))))
	for _, mpi := range b.words("MPIS") {
		program := b.compile("gaps."+mpi, "mpicc."+mpi, "gaps.c")
		library := map[string]string{"with": p.library(mpi, "caller"),
			"without": b.path("without/libcairn-" + mpi + ".so")}
		must(os.Remove(library["without"]))
		b.run("make", "-s", "-C", "tracer/shim", "OUT="+b.path("without"), "BUILD="+b.path("build"),
			"CFLAGS=-O2 -DCAIRN_NO_EVIDENCE", library["without"])
		r := alternately(b.number("PAIRS"), []string{"without", "with"}, func(v string) string {
			p.library(mpi, "caller") // an empty spool
			return b.run(mpirun(mpi, 1, "env", "CAIRN_ROOT="+b.path("root"), "LD_PRELOAD="+library[v],
				program, "4000")...)
		})
		added, gap := median(r.added("with", "without", "gap", cpu)), median(r.of("with", "gap", wall))
		b.row(mpi, val("ns per gap", added), val("ms of a gap", gap/1e6),
			val("% of the time", 100*added/gap).atMost(maxEvidence))
	}
}

func tracerIdle(b *bench) {
	p := b.preloader(`lossy {"timing":"lossy"}`)
	for _, mpi := range b.words("MPIS") {
		const count = `set -- /proc/$$/task/*
			echo "counts $# $(grep -o '[^/]*cairn[^/]*$' /proc/$$/maps | sort -u | wc -l)"`
		n := numbered(b.run("env", "LD_PRELOAD="+p.library(mpi, "lossy"), "bash", "-c", count))["counts"]
		files := get(filepath.Glob(b.path("root/spool/*")))
		b.row(mpi, val("threads", n[0]).atMost(1), val("libraries", n[1]).atMost(1),
			val("files", float64(len(files))).atMost(0))
	}
}

var perfCount = regexp.MustCompile(`(?m)^([0-9]+),[^,]*,instructions`)

func tracerInstructions(b *bench) {
	p := b.preloader(cmp.Or(b.param("CONFIGS"), configs))
	for _, mpi := range b.words("MPIS") {
		p.addFloors(mpi)
	}
	b.instructions(p, append([]string{"noop", "stamps"}, p.names...))
}

// instructions counts what variants add to each kind of call. The difference between a tenth and
// half of the calls does not include the cost of the start. With a fifth of 500,000 calls, the
// first garbage collections of the recorder fall into one run only: two million instructions each,
// 30 a call, which come and go with any change of the heap.
func (b *bench) instructions(p *preloader, variants []string) {
	few, more := b.number("CALLS")/10, b.number("CALLS")/2
	emulator := "qemu-" + strings.TrimSpace(b.run("uname", "-m"))
	text, _ := b.try("sh", "-c", "perf stat -x, -e instructions:u true 2>&1")
	perf := perfCount.MatchString(text)
	if !perf {
		if _, err := b.try(emulator, "--version"); err != nil {
			fail("no instructions can be counted: install perf with hardware counters, or qemu-user "+
				"(hack/install.sh): %w", err)
		}
		b.run("gcc", "-O2", "-shared", "-fPIC", "-o", b.path("instructions.so"),
			b.program("instructions.c"))
	}
	for _, mpi := range b.words("MPIS") {
		program := b.compile("calls."+mpi, "mpicc."+mpi, "calls.c", "-pthread")
		// of the thread that calls (perf: 0) and of all threads
		count := func(variant, loop string, calls int) []float64 {
			words := []string{program, fmt.Sprint(calls), "1", loop}
			if perf {
				words = slices.Concat(p.preload(mpi, variant),
					[]string{"perf", "stat", "-x,", "-e", "instructions:u"}, words)
			} else {
				counted := []string{emulator, "-plugin", b.path("instructions.so")}
				if library := p.library(mpi, variant); library != "" {
					counted = append(counted, "-E", "LD_PRELOAD="+library)
				}
				words = append(counted, words...)
			}
			text := get(b.said(mpirun(mpi, 1, words...)...))
			if perf {
				text = perfCount.ReplaceAllString(text, "instructions 0 $1\n")
			}
			n := numbered(text)["instructions"]
			if len(n) < 2 {
				fail("no instructions were counted: %s", lastLine(text))
			}
			return n
		}
		for _, loop := range loops {
			fewAlone, moreAlone := count("alone", loop, few), count("alone", loop, more)
			for _, v := range variants {
				fewTraced, moreTraced := count(v, loop, few), count(v, loop, more)
				// warm-up and the timed pass are part of a run: 1.3 times as many calls
				added := func(k int) float64 {
					return (moreTraced[k] - fewTraced[k] - moreAlone[k] + fewAlone[k]) / (1.3 * float64(more-few))
				}
				b.row(strings.Join([]string{mpi, loop, v}, " "), val("instructions, calling thread", added(0)),
					val("instructions, all threads", added(1)))
			}
		}
	}
}

// tracerNPB compares the CPU time of whole programs and their launcher: the ratio of the sums, and
// its upper bound in 95 % of bootstrap samples of the pairs.
func tracerNPB(b *bench) {
	p := b.preloader("traced " + b.param("CONFIG"))
	yield := b.yield()
	for _, mpi := range b.words("MPIS") {
		var programs []string
		for _, kernel := range b.words("KERNELS") {
			programs = append(programs, kernel+"."+b.param("CLASS")+"."+b.param("RANKS"))
		}
		folder := b.buildNPB(mpi, programs...)
		for _, program := range programs {
			var all []paired.Pair
			for i := range b.number("PAIRS") {
				var pair paired.Pair
				order := []string{"alone", "traced"}
				if i%2 == 1 {
					slices.Reverse(order)
				}
				for _, v := range order {
					seconds := p.cpuOfNPB(mpi, v, yield, filepath.Join(folder, program))
					if v == "alone" {
						pair.Without = seconds
					} else {
						pair.With = seconds
					}
				}
				all = append(all, pair)
			}
			ratio, _, upper := paired.Ratio(all)
			bound := val("upper bound", upper)
			if len(all) >= minProgramPairs {
				bound = bound.atMost(maxProgram)
			}
			b.row(mpi+" "+program, val("pairs", float64(len(all))), val("ratio", ratio), bound)
		}
	}
}

// cpuOfNPB is the CPU time of a run, which must have computed the right result and traced every
// rank.
func (p *preloader) cpuOfNPB(mpi, variant, yield, program string) float64 {
	// The files are moved, not removed: a file system that has just freed many files takes longer
	// to create new ones, and a pod's volume is fresh.
	if err := os.Rename(p.path("root/spool"), get(os.MkdirTemp(p.dir,
		"old-"))+"/spool"); !os.IsNotExist(err) {
		must(err)
	}
	preload := yield
	if library := p.library(mpi, variant); library != "" {
		preload += ":" + library
	}
	out := p.path("output")
	defer p.compress(variant)()
	start := mpirun(mpi, p.number("RANKS"), "env", "LD_PRELOAD="+preload, program)
	u := p.used(append([]string{"sh", "-c", `exec "$@" >` + out, "sh"}, start...)...)
	if !rightResult.Match(get(os.ReadFile(out))) {
		fail("%s under %s computed something else", program, mpi)
	}
	if traced := get(filepath.Glob(p.path("root/spool/*/process.json"))); variant != "alone" &&
		len(traced) != p.number("RANKS") {
		fail("%s under %s: %d ranks were traced", program, mpi, len(traced))
	}
	return u.cpu
}
