package main

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Targets of `cairn run` for a program whose calls hardly repeat: CPU time that it adds.
const (
	shortSeconds = 1.0
	shortMicros  = 2.0 // for each call
)

// short runs short.c without and with cairn run. There is a single rank: several would spin while
// they wait, for much longer on a busy machine. The share of the analysis program is what cairn
// analyze takes with it, less what it takes without it.
func short(b *bench) {
	for _, mpi := range b.words("MPIS") {
		program := b.compile("short."+mpi, "mpicc."+mpi, "short.c")
		for _, kind := range b.words("KINDS") {
			for _, calls := range b.words("CALLS") {
				start := mpirun(mpi, 1, program, kind, calls)
				alone := b.used(start...).cpu
				out := b.fresh("run")
				traced := b.used(append([]string{"bin/cairn", "run", "-o", out, "--"}, start...)...).cpu
				trace := filepath.Join(out, "trace.cairn")
				analyze := []string{"bin/cairn", "analyze", trace, "-o", b.path("report")}
				share := b.used(analyze...).cpu - b.used(append(analyze, "--only",
					"critical-path,topology,clusters,placement")...).cpu
				n := b.info(trace).Calls
				b.row(strings.Join([]string{mpi, kind, strconv.FormatFloat(n, 'f', 0, 64), "calls"}, " "),
					val("alone, s", alone), val("added, s", traced-alone),
					val("program, s", share), val("the rest, s",
						traced-alone-share).atMost(shortSeconds+shortMicros*n/1e6))
			}
		}
	}
}

func tables(b *bench) {
	trace := b.simulate("--pattern stencil2d --ranks " + b.param("RANKS") + " --iterations " +
		b.param("ITERATIONS"))
	calls := b.info(trace).Calls
	b.row("trace", val("calls", calls), val("bytes/call", fileBytes(trace)/calls))
	row := func(name string, u usage, paths ...string) {
		b.row(name, val("bytes/call", fileBytes(paths...)/calls), val("wall, s", u.wall),
			val("CPU, s", u.cpu), val("MiB", u.mib))
	}
	folder := b.fresh("tables")
	u := b.used("bin/cairn", "export", trace, "--format", "parquet", "-o", folder)
	row("parquet", u, get(filepath.Glob(filepath.Join(folder, "*.parquet")))...)
	b.row("parquet, calls alone", val("bytes/call",
		fileBytes(filepath.Join(folder, "calls.parquet"))/calls))
	perfetto := b.path("trace.perfetto.gz")
	row("perfetto, compressed", b.used("bin/cairn", "export", trace, "-o", perfetto), perfetto)
}
