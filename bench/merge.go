package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// mergeTargets are the maximum seconds and MiB of merges, by pattern and ranks.
var mergeTargets = map[string]struct{ seconds, mib float64 }{"stencil2d 16384": {2, 256},
	"stencil2d 1048576": {60, 512}}

// A job is the shards of a simulated program in a store.
type job struct {
	store         string
	shards, bytes float64
}

var written = regexp.MustCompile(`: (\d+) shards, \d+ calls, (\d+) bytes`)

// simulateJob writes the shards of a simulated program, 64 ranks each, every rank recorded by
// itself.
func (b *bench) simulateJob(options string) job {
	store := b.fresh("job")
	text := b.run(append([]string{"env", "GOGC=400", "bin/cairn", "simulate", "--store", store},
		strings.Fields(options)...)...)
	n := written.FindStringSubmatch(text)
	if n == nil {
		fail("cairn simulate did not say how many shards it wrote: %s", text)
	}
	numbers := get(parse(n[1:]))
	return job{store, numbers[0], numbers[1]}
}

// A merged job: its trace, the time of all merges, and the memory of the largest.
type merged struct {
	trace          string
	wall, cpu, mib float64
}

// mergeJob merges a job as its pods do, including reading: in one process, or with more shards than
// fan in a tree of merges, two at a time.
func (b *bench) mergeJob(j job, fan int) (m merged) {
	b.write("message", "") // written only if it exists, as in a pod
	begun := time.Now()
	add := func(u usage) { m.cpu, m.mib = m.cpu+u.cpu, max(m.mib, u.mib) }
	add(b.used("bin/cairn", "merge", "--job", "--store", j.store, "--collect-timeout", "1", "--fan-in",
		fmt.Sprint(fan),
		"--termination-log", b.path("message")))
	var message struct{ Levels []int }
	must(json.Unmarshal(get(os.ReadFile(b.path("message"))), &message))
	for level, parts := range message.Levels {
		group, used := errgroup.Group{}, make([]usage, parts)
		group.SetLimit(2)
		for i := range parts {
			group.Go(func() (err error) {
				used[i], err = b.usage("", "bin/cairn", "merge", "--job", "--store", j.store, "--level",
					fmt.Sprint(level+1), "--index", strconv.Itoa(i))
				return err
			})
		}
		must(group.Wait())
		for _, u := range used {
			add(u)
		}
	}
	m.wall = time.Since(begun).Seconds()
	m.trace = j.store + "/0/0/trace.cairn"
	return m
}

func merges(b *bench) {
	row := func(pattern string, ranks int) {
		replay, fan := "--no-replay", 256
		if pattern == "master-worker" { // its messages depend on time
			replay = ""
		}
		if ranks > 16384 {
			fan = 64
		}
		name := fmt.Sprintf("%s %d", pattern, ranks)
		j := b.simulateJob(fmt.Sprintf("%s --pattern %s --ranks %d --call-sites none", replay, pattern,
			ranks))
		m := b.mergeJob(j, fan)
		wall, mib := val("wall, s", m.wall), val("peak, MiB", m.mib)
		if t, ok := mergeTargets[name]; ok {
			wall, mib = wall.atMost(t.seconds), mib.atMost(t.mib)
		}
		b.row(name, val("shards", j.shards), val("their bytes", j.bytes), val("CPU, s", m.cpu), wall, mib,
			val("trace, bytes", fileBytes(m.trace)), val("reading, MiB",
				b.used("bin/cairn", "info", m.trace).mib))
	}
	for _, pattern := range b.words("PATTERNS") {
		for _, ranks := range get(parse(b.words("RANKS"))) {
			if pattern != "master-worker" || ranks <= 4096 { // it is replayed as a whole, in memory
				row(pattern, int(ranks))
			}
		}
	}
	if b.given("LARGE") {
		row("stencil2d", 131072)
		row("stencil2d", 1048576)
	}
}
