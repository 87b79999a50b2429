package main

import (
	"os"
	"strconv"
	"strings"
)

// A benchmark is a case.
type benchmark struct {
	name    string // make bench-NAME; names with the same beginning are a group
	about   string // what it measures
	against string // a peer, a floor, or what else it is compared with
	target  string // or why there is none
	run     func(*bench)
	rounds  int // how often it is measured; 0: once
	params  []param
}

// A param is an environment variable.
type param struct{ name, usual, about string }

// param returns the value of a parameter of the case.
func (b *bench) param(name string) string {
	for _, p := range b.of.params {
		if p.name == name {
			return setting(name, p.usual)
		}
	}
	panic(b.of.name + " has no parameter " + name)
}

func (b *bench) number(name string) int { return get(strconv.Atoi(b.param(name))) }

func (b *bench) words(name string) []string { return strings.Fields(b.param(name)) }

// given reports whether a switch is on.
func given(name string) bool { return os.Getenv(name) != "" }

var (
	mpis  = param{"MPIS", "openmpi mpich", "under these MPIs"}
	npb   = param{"NPB", "", "the folder NPB3.x-MPI with NASA's sources of the NAS Parallel Benchmarks: these, too"}
	only  = param{"NPB", "", "the folder NPB3.x-MPI with NASA's sources of the NAS Parallel Benchmarks; needed"}
	large = param{"LARGE", "", "1: large ones, too; minutes, and up to 2 GB of disk"}
)

func pairs(n string) param { return param{"PAIRS", n, "alternating runs, of which medians are taken"} }

const (
	noFloor  = "nothing"
	observed = "none: compare two trees"
)

// cases are all cases, in the order of the list.
var cases = []benchmark{
	{
		name: "baseline-sizes", about: "machine code of built files and bytes of traces, to the byte",
		against: "another tree (TREES)", target: observed, run: baselineSizes,
	},
	{
		name: "baseline-commands", about: "CPU time and peak memory of the commands that read traces, and of merges",
		against: "another tree (TREES)", target: observed, run: baselineCommands, rounds: 5,
	},
	{
		name: "baseline-instructions", about: "instructions that the tracer adds to a call, three configurations",
		against: "another tree (TREES)", target: observed, run: baselineInstructions, rounds: 5, params: []param{mpis, calls("500000")},
	},
	{
		name: "parts", about: "speed of the parts: Go's benchmarks of trace, recorder, merger and analyses",
		against: noFloor, target: observed, run: parts,
	},
	{
		name: "tracer-calls", about: "CPU time that the tracer adds to a call, longest iteration, MPI_Finalize, memory",
		against: "a wrapper that does nothing, and one that reads the clock twice",
		target:  "100 ns; twice the clock; longest 200 µs or twice that of the wrapper; MPI_Finalize 5 ms; 32 MiB",
		run:     tracerCalls, params: []param{mpis, pairs("5"), calls("1000000"), {"THREADS", "1 4", "threads that call"}, configs},
	},
	{
		name: "tracer-start", about: "total cost for a process that makes some calls, without and with the core library",
		against: "the process alone", target: observed, run: tracerStart, params: []param{mpis, pairs("20")},
	},
	{
		name: "tracer-evidence", about: "CPU time of the evidence for gaps of 1.2 ms between two calls",
		against: "a shim that records no evidence", target: "0.1 % of the time", run: tracerEvidence, params: []param{mpis, pairs("20")},
	},
	{
		name: "tracer-idle", about: "a process that never calls MPI_Init: threads, libraries of ours, files in the spool",
		against: noFloor, target: "one thread, one library, no file", run: tracerIdle, params: []param{mpis},
	},
	{
		name: "tracer-instructions", about: "instructions in user space that the tracer adds to a call (perf, or qemu's emulation)",
		against: "a wrapper that does nothing, and one that reads the clock twice", target: "none: the times have one",
		run: tracerInstructions, params: []param{mpis, calls("1000000"), configs},
	},
	{
		name: "tracer-npb", about: "CPU time of NPB LU, MG, CG with the tracer and without",
		against: "the program alone", target: "1.02: the upper 95 % bound of the ratio, from 15 pairs on (bootstrap)", run: tracerNPB,
		params: []param{
			only, mpis, pairs("15"), {"KERNELS", "lu mg cg", "of NPB"}, {"CLASS", "W", "of NPB"}, {"RANKS", "4", "of each run"},
			{"CONFIG", `{"call_sites":"caller","timing":"lossy"}`, "the tracer's config.json"},
		},
	},
	{
		name: "languages", about: "CPU time that the tracer adds to a call from C, Fortran and Python (mpi4py)",
		against: "the same calls from C; Python without call sites", target: "200 ns for the line of Python",
		run: languages, params: []param{mpis, pairs("7"), calls("300000")},
	},
	{
		name: "clustering", about: "what clustering at run time costs and saves: votes, timing, CPU time, accuracy of leads",
		against: "the same run without clustering, and without the tracer",
		target:  "votes 5 % of the time; accuracy 95 %; of the example phases 30 % of timing saved on 4 ranks, 55 % on 16, 2 clusterings",
		run:     clustering, params: []param{pairs("3"), {"ITERATIONS", "5000", "of each phase"}},
	},
	{
		name: "trace-sizes", about: "bytes of traces without timing, call sites and metadata",
		against: "Pilgrim (a2b828b, MPICH 4.0.2, measured once) and zstd -19 of its traces",
		target:  "zstd -19 of Pilgrim's; geometric mean a tenth of Pilgrim's where it writes 2 KB or more", run: traceSizes, params: []param{npb},
	},
	{
		name: "trace-clock", about: "bytes of readings of the clock, in a program that reads it in most calls",
		against: noFloor, target: "0.1 byte a reading with lossy timing", run: traceClock, params: []param{mpis},
	},
	{
		name: "trace-simulated", about: "bytes of simulated stencils against ranks and iterations",
		against: noFloor, target: "1,023 bytes without timing", run: traceSimulated, params: []param{large},
	},
	{
		name: "trace-timing", about: "bytes of timing at 5 % and 20 %, and calls read per second; its codec",
		against: "the Krichevsky-Trofimov code length", target: "1.4 and 1.0 bytes a call, 1.1 times the code length; 10 million calls/s",
		run: traceTiming, params: []param{npb},
	},
	{
		name: "trace-decode", about: "calls decoded per second and core",
		against: noFloor, target: "20 million without timing, 10 million with", run: traceDecode,
	},
	{
		name: "merge", about: "time and memory of a job's merge against ranks (shards of 64), and of reading the trace",
		against: noFloor, target: "stencil: 16,384 ranks 2 s and 256 MiB, 1,048,576 ranks 60 s and 512 MiB", run: merges,
		params: []param{
			{"RANKS", "1024 4096 16384", "of the job"}, {"PATTERNS", "stencil2d stencil3d wavefront irregular master-worker", "of the program"}, large,
		},
	},
	{
		name: "analyze-stencil", about: "CPU time, memory, temporary file and page from trace to report",
		against: noFloor, target: "0.5, 0.8, 1.0 µs an event on 16, 256, 1,024 ranks; 3 MiB of page; large ones 1 GiB; a billion 480 s, 2 GiB, 5 GB",
		run: analyzeStencils,
		params: []param{
			{"RANKS", "16 256 1024 16384", "of the traces"}, {"EVENTS", "1000000", "of each trace"}, large,
			{"BILLION", "", "1: a billion events on 256 ranks, too; an hour, 5 GB of disk"},
		},
	},
	{
		name: "analyze-memory", about: "memory for two ranks that always wait for each other",
		against: "the same with an eighth of the events", target: "1.3 times as much", run: analyzeMemory,
		params: []param{{"EVENTS", "1000000", "of the smaller trace, per rank"}},
	},
	{
		name: "analyze-irregular", about: "CPU time per call of each command for programs with hardly any repetition",
		against: "a quarter of the trace", target: "1.3 times as much", run: analyzeIrregular,
		params: []param{{"EVENTS", "1000000", "of each trace"}},
	},
	{
		name: "short", about: "CPU time that cairn run adds to short programs whose calls hardly repeat, on one rank",
		against: "the program alone", target: "1 s + 2 µs a call, without the analysis program", run: short,
		params: []param{
			mpis, {"CALLS", "1000 10000 100000", "of the program"},
			{"KINDS", "infos dims types messages comms collectives", "of programs"},
		},
	},
	{
		name: "clusters", about: "groups, program text and topology of 16,384 ranks of a sweep with 27 shapes",
		against: noFloor, target: "1 s, 5 s, 60 s", run: clustersOfMany,
	},
	{
		name: "tables", about: "bytes per call, CPU time and memory of tables (cairn export --format parquet)",
		against: "the export for Perfetto", target: "none: the peer's row says it", run: tables,
		params: []param{{"RANKS", "128", "of the halo exchange"}, {"ITERATIONS", "10000", "of it"}},
	},
	{
		name: "histogram", about: "bytes and errors of cairn reduce --histogram for irregular programs",
		against: "a tenth and a hundredth of the iterations, fewer ranks; the whole trace",
		target:  "1.1 times the bytes; sums exact; median durations within 25 %", run: histograms,
		params: []param{{"ITERATIONS", "50", "of the shortest programs"}, npb},
	},
	{
		name: "scale-rates", about: "models of scaling of 60 random programs with known growth",
		against: "the known terms", target: "by noise (scale.go): the right term 98/80/55 %, false alarms 0/5/5 %, …", run: scaleRates,
	},
	{
		name: "scale-unseen", about: "models of scaling, for a size that they have not seen",
		against: "real runs of this size", target: "calls and bytes exact; time of the example within 15 %", run: scaleUnseen, params: []param{npb},
	},
	{
		name: "predict", about: "what-if predictions of changed programs and networks",
		against: "real runs changed accordingly", target: "within 15 %", run: predictions, params: []param{pairs("5")},
	},
	{
		name: "simgrid", about: "times predicted by cairn predict for a network of 20 µs and 10 GB/s",
		against: "SimGrid's replay of the same trace", target: "within 0.5 % for simulated traces, 2 % for real ones, without handshakes",
		run:    simgrid,
		params: []param{{"RANKS", "16", "of simulated traces"}, {"TRACES", "", "these traces instead"}},
	},
	{
		name: "skeleton", about: "skeletons: do they compile, run, make the same calls, and take as long",
		against: "the program", target: "the same calls; time within 30 % or 0.3 s", run: skeletons,
		params: []param{mpis, npb, {"PROGRAMS", "", "these examples only"}},
	},
	{
		name: "replay-calls", about: "re-executions of the examples, traced again",
		against: "the run", target: "the same calls, or the known refusal", run: replayCalls, params: []param{mpis, npb},
	},
	{
		name: "replay-times", about: "duration of re-executions on slow networks, with computation as sleep",
		against: "the run", target: "within 5.7 %, or twice the difference between the program's own runs", run: replayTimes,
		params: []param{pairs("5")},
	},
	{
		name: "long", about: "a pod for a day through the sidecar's code, hour by hour; irregular calls by the million",
		against: noFloor, target: "none: no column grows; see the table", run: long,
		params: []param{{"HOURS", "24", "that are simulated"}, {"SLOTS", "8", "ranks of the pod"}, {"IRREGULAR", "", "1 or order: calls that do not repeat"}},
	},
	{
		name: "operator", about: "seconds from apply to the launcher, and from the job's end to the report, on the local cluster",
		against: "the same MPIJob without Cairn", target: "none: the peer's row says it", run: operator, params: []param{pairs("5")},
	},
	{
		name: "verdict", about: "how often the verdict names a planted problem, simulated and real; promised and real gains",
		against: "the truth: the run without the problem", target: "95 % of all, 85 % of each kind, no wrong blame, gains (docs/planted-problems.md)",
		run: verdicts,
		params: []param{
			{"SIMULATED", "240", "plants"}, {"CONTROLS", "300", "without a problem"}, {"REAL", "60", "plants, and a tenth as many controls and failures"},
			{"SEED", "1", "of the first plant of each kind"}, {"KINDS", "", "these only, separated by commas"},
		},
	},
	{
		name: "topology", about: "topologies of NPB, with ranks in order and permuted: the table of docs/topology.md",
		against: "table 7 of the logicalization paper", target: "none: the table is read", run: topologies,
		params: []param{only, {"RANKS", "", "only these; else up to 64"}},
	},
	{
		name: "verify-npb", about: "NPB under cairn run --verify: results, and every call against the reference log",
		against: "the reference log", target: "all agree", run: verifyNPB,
		params: []param{only, mpis, {"CLASS", "S", "of NPB"}, {"RANKS", "4", "of each run"}},
	},
	{
		name: "verify-osu", about: "the OSU micro-benchmarks under cairn run --verify, short runs",
		against: "the reference log", target: "all agree", run: verifyOSU,
		params: []param{mpis, {"OSU", "", "the folder with their sources, 5.x or 7.x (mvapich.cse.ohio-state.edu/benchmarks); needed"}},
	},
}

func calls(n string) param { return param{"CALLS", n, "of each run"} }
