package main

import (
	"fmt"
	"regexp"
	"strings"
)

// Targets of clustering while a program runs.
const (
	maxVotePercent  = 5  // of the time of all ranks
	minAccuracy     = 95 // % ACC of the leads of the full run
	wantClusterings = 2
)

// minSaved is the minimum percentage of timing bytes that the program with two phases saves.
var minSaved = map[int]float64{4: 30, 16: 55}

var accuracy = regexp.MustCompile(`by replay:.*ACC (\S+)%`)

// clustering runs the two-phase example, and a sweep (like NPB LU's) and a farm (master and
// workers) with explicit markers, in both modes.
func clustering(b *bench) {
	n := b.number("ITERATIONS")
	for _, c := range []struct {
		ranks     int
		arguments string
	}{
		{4, fmt.Sprintf("phases --work-us 100 --iterations %d", n)},
		{16, fmt.Sprintf("phases --work-us 100 --iterations %d", n)},
		{4, fmt.Sprintf("sweep --mark --work-us 200 --planes 8 --iterations %d", n/10)},
		{4, fmt.Sprintf("farm --mark --work-us 200 --rounds %d", n/10)},
	} {
		words := strings.Fields(c.arguments)
		job := mpirun("openmpi", c.ranks, append([]string{example("openmpi", words[0])}, words[1:]...)...)
		r := alternately(b.number("PAIRS"), []string{"full", "clustered"}, func(mode string) string {
			return b.clusteredRun(mode, words[0], job)
		})
		of := func(mode, what string) float64 { return median(r.of(mode, what, 0)) }
		name := fmt.Sprintf("%s, %d ranks", words[0], c.ranks)
		for _, mode := range []string{"full", "clustered"} {
			b.row(name+", "+mode, val("CPU, of untraced", of(mode, "cpu")),
				val("timing, bytes/call", of(mode, "timing")),
				val("votes", of(mode, "votes")), val("µs/vote", of(mode, "vote-µs")),
				val("led calls, %", of(mode, "led")))
		}
		values := []value{
			val("votes, % of time", of("clustered", "vote-share")).atMost(maxVotePercent),
			val("accuracy of leads, %", of("full", "accuracy")).atLeast(minAccuracy),
		}
		if words[0] == "phases" {
			saved := 100 * (1 - of("clustered", "timing")/of("full", "timing"))
			values = append(values, val("timing saved, %", saved).atLeast(minSaved[c.ranks]),
				val("clusterings", of("clustered", "clusterings")).equals(wantClusterings))
		}
		b.row(name, values...)
	}
}

// clusteredRun runs a job without the tracer and with it, and returns lines with what it cost.
func (b *bench) clusteredRun(mode, program string, job []string) string {
	options := "--mode " + mode
	if mode == "clustered" && program == "farm" {
		options += " --clustering arguments=ignored"
	}
	alone := b.used(job...).cpu
	// the CPU time of the job in cairn run, without merge and analysis
	timed := []string{"bash", "-c", `TIMEFORMAT="%U %S"; { time "$@" >/dev/null 2>&1; } 2>"$0"`,
		b.path("time")}
	trace := get(b.trace(options, append(timed, job...)))
	times := numbered("time " + b.run("cat", b.path("time")))["time"]
	if len(times) != 2 {
		fail("bash did not say what the job took")
	}
	leads := b.run("bin/cairn", "reduce", trace, "--leads", "-o", b.path("leads.cairn"))
	acc := accuracy.FindStringSubmatch(leads)
	if acc == nil {
		fail("cairn reduce did not say the ACC of the replay: %s", leads)
	}
	f := b.info(trace)
	c := f.Clustering
	return fmt.Sprintf("cpu %g\ntiming %g\nvotes %g\nvote-µs %g\nvote-share %g\nled "+
		"%g\nclusterings %g\naccuracy %s\n", (times[0]+times[1])/alone,
		f.Bytes.Timing/f.Calls, c.Votes, c.NSPerVote/1e3, 100*c.VoteShare, 100*c.Extrapolated/f.Calls,
		c.Clusterings, acc[1])
}
