package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	network = []string{"--latency", "20us", "--bandwidth", "10"}
	// alike are SimGrid's algorithms of collectives that are those of predict's model.
	alike = strings.Fields("--cfg=smpi/allreduce:rdb --cfg=smpi/bcast:binomial_tree " +
		"--cfg=smpi/reduce:binomial --cfg=smpi/barrier:ompi_bruck " +
		"--cfg=smpi/allgather:bruck --cfg=smpi/gather:ompi_binomial --cfg=smpi/scatter:ompi_binomial")
	simulationTime  = regexp.MustCompile(`Simulation time ([0-9.e+-]+)`)
	asyncThreshold  = regexp.MustCompile(`smpi.async-small-thresh" value="([0-9]*)"`)
	writtenOrLeft   = regexp.MustCompile(`(?m)^(written|left).*`)
	simgridPatterns = strings.Fields("stencil2d stencil3d ring all-to-all pairwise master-worker " +
		"butterfly tree hypercube transpose irregular " +
		"wavefront multigrid multipartition random two-phase")
	simgridExamples = strings.Fields("stencil ring collectives sweep imbalance balanced " +
		"master_worker farm requests persistent split topology")
)

// Targets: maximum difference in %.
const maxSimulatedOff, maxRecordedOff = 0.5, 2

func simgrid(b *bench) {
	if _, err := exec.LookPath("smpirun"); err != nil {
		fail("%w: hack/install.sh readers installs it", err)
	}
	for _, trace := range b.words("TRACES") {
		b.simgridRows(filepath.Base(trace), get(filepath.Abs(trace)), maxRecordedOff)
	}
	if b.given("TRACES") {
		return
	}
	for _, pattern := range simgridPatterns {
		for _, bytes := range []int{1024, 200000} {
			trace := b.simulate(fmt.Sprintf("--pattern %s --ranks %s --bytes %d --noise-percent 20", pattern,
				b.param("RANKS"), bytes))
			b.simgridRows(fmt.Sprint(pattern, " ", bytes), trace, maxSimulatedOff)
		}
	}
	for _, name := range simgridExamples {
		b.simgridRows(name, get(b.trace("--timing lossless",
			mpirun("openmpi", 4, example("openmpi", name)))), maxRecordedOff)
	}
}

// simgridRows are three rows per trace, by the protocol of large messages. SimGrid gets the actions
// of `cairn export --format simgrid`, and options that make its model predict's: messages do not
// slow each other down, and collectives use the same algorithms (for all-to-all the faster one).
// Collectives of some ranks, and nonblocking ones, are messages in the export: those of alltoall go
// directly, in one latency.
//
//   - at once: no message waits for its receive; this row has the target.
//   - handshake, from the size that the run shows: SimGrid starts a transfer when both sides are
//     ready, and continues it while they compute. predict has three latencies, and data move only
//     while both sides are in MPI. SimGrid gets the three latencies (lat-factor). The remaining
//     difference is overlap, which SimGrid always has.
//   - default: SimGrid's own algorithms of collectives, and no additional latencies.
func (b *bench) simgridRows(name, trace string, target float64) {
	const unlimited = "2000000000"
	exported := b.fresh("export")
	said := b.run(slices.Concat([]string{"bin/cairn", "export", trace, "--format", "simgrid", "-o",
		exported}, network)...)
	predicted := func(options ...string) float64 {
		var p struct {
			Run struct {
				Seconds float64 `json:"predicted_seconds"`
			}
		}
		must(json.Unmarshal([]byte(b.run(slices.Concat([]string{"bin/cairn", "predict", trace, "--json"},
			network, options)...)), &p))
		return p.Run.Seconds
	}
	simulated := func(options ...string) float64 {
		text := get(b.said(append([]string{"env", "-C", exported, "smpirun", "-platform", "platform.xml",
			"-hostfile", "hostfile", "-replay", "traces.txt"}, options...)...))
		m := simulationTime.FindStringSubmatch(text)
		if m == nil {
			fail("SimGrid did not say its time: %s", lastLine(text))
		}
		return get(strconv.ParseFloat(m[1], 64))
	}
	// ring is the pairwise exchange for any number of ranks
	quicker := func(options ...string) float64 {
		options = append(options, alike...)
		return min(simulated(append(options, "--cfg=smpi/alltoall:bruck")...),
			simulated(append(options, "--cfg=smpi/alltoall:ring")...))
	}
	row := func(messages string, p, s float64, judged bool) {
		off := val("off, %", 100*(p/s-1))
		if judged {
			off = off.within(target)
		}
		b.row(name+", "+messages, val("predict, ms", 1e3*p), val("SimGrid, ms", 1e3*s), off)
	}
	row("at once", predicted("--handshake-from", unlimited),
		quicker("--cfg=smpi/async-small-thresh:"+unlimited,
			"--cfg=smpi/send-is-detached-thresh:"+unlimited), true)
	from := asyncThreshold.FindStringSubmatch(b.run("cat", filepath.Join(exported, "platform.xml")))
	if from == nil {
		fail("platform.xml has no smpi/async-small-thresh")
	}
	row("handshake", predicted(), quicker("--cfg=smpi/lat-factor:"+from[1]+":3;0:1"), false)
	row("default", predicted(), simulated(), false)
	for _, line := range writtenOrLeft.FindAllString(said, -1) {
		b.note("    %s", line)
	}
}
