package shipper

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/internal/passes"
	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/trace"
)

// worldID is the short name of a world in keys. It is computed in every pod
// by itself, from what all ranks of a launch know.
func worldID(launchID string) string {
	sum := sha256.Sum256([]byte(launchID))
	return hex.EncodeToString(sum[:6])
}

// byWorld groups processes by launch.
func byWorld(processes []process) map[string][]process {
	worlds := map[string][]process{}
	for _, p := range processes {
		worlds[p.launchID] = append(worlds[p.launchID], p)
	}
	return worlds
}

// state names what a shard of these processes would be made of: when it has
// not changed, there is nothing to upload. A living process changes with time.
func state(processes []process, resolved string) string {
	var b strings.Builder
	for _, p := range processes {
		fmt.Fprintf(&b, "%s %v\n", p.name, p.alive)
	}
	return b.String() + resolved
}

// A pack is the pod's ranks of one world, or of one start of it, as a trace.
type pack struct {
	content  *trace.Content
	manifest shard.Manifest
	parts    []processPart // that have times of the content
	moved    []int         // those of them that went to the store with it
}

// A collection is what the processes of a world have become.
type collection struct {
	packs    []pack
	problems []string        // of processes that are in none of the packs
	unread   []string        // the same of those that may be readable the next time
	unusable map[string]bool // those of them that have left something, by directory
	// unrecorded are processes of which no call was recorded, by directory: what is to be said of each
	unrecorded map[string]string
}

// joined reports whether signatures that a process told apart became one on a thread whose first calls are not known.
func (c *collection) joined() bool {
	for i := range c.packs {
		for _, t := range c.packs[i].content.Threads.All() {
			if t.Chapters != nil && t.SignaturesJoined {
				return true
			}
		}
	}
	return false
}

// collectWorld makes the packs of one world from its processes. Processes count for the pass (nil: nobody watches).
func collectWorld(launchID string, processes []process, id Identity, tables *symbolTables, pass *passes.Pass) collection {
	var (
		m     = merger.Merger{Unfinished: true}
		c     = collection{unusable: map[string]bool{}, unrecorded: map[string]string{}}
		alive = map[processKey]bool{}
		notes = map[processKey]string{}
		added []string
		parts []processPart
	)
	world := worldID(launchID)
	for _, p := range processes {
		pass.Add(1)
		r := p.recover()
		if r.content == nil {
			switch {
			case r.unread:
				c.unread = append(c.unread, r.problem)
			case r.problem != "":
				c.problems = append(c.problems, r.problem)
			}
			if r.unrecorded != "" {
				c.unrecorded[p.name] = r.unrecorded
			}
			if r.unusable {
				c.unusable[p.name] = true
			}
			continue
		}
		content := r.content
		content.Meta.World = world
		content.Ranks.Change(0, func(r *trace.Rank) { r.Pod, r.Node = id.Pod, id.Node })
		modules := slices.Clone(p.modules)
		for _, m := range r.modules {
			modules = append(modules, m.Path)
		}
		tables.apply(content, modules)
		own := content.Ranks.At(0)
		if err := m.Add(content); err != nil {
			c.problems = append(c.problems, fmt.Sprintf("process %s cannot be used: %v", p.name, err))
			c.unusable[p.name] = true
			continue
		}
		key := keyOf(&own)
		alive[key] = p.alive
		notes[key] = r.problem
		added = append(added, p.name)
		for _, part := range r.parts {
			parts = append(parts, processPart{p, part})
		}
	}
	if len(added) == 0 {
		return c
	}
	contents, err := m.Finish(merger.Options{CreatedBy: version.Version})
	if err != nil {
		c.problems = append(c.problems, fmt.Sprintf("world %s cannot be merged: %v", world, err))
		for _, name := range added {
			c.unusable[name] = true
		}
		return c
	}
	for _, content := range contents {
		p := pack{content: content, manifest: shard.Manifest{
			World: world, LaunchID: launchID, Size: content.Meta.WorldSize, Final: true,
			Pod: id.Pod, PodUID: id.PodUID, Node: id.Node, BootID: id.BootID,
			Problems: slices.Clone(c.problems),
		}}
		here := map[identity]bool{}
		for _, r := range content.Ranks.All() {
			here[identity{r.Host, r.PID, r.StartRealtimeNS}] = true
			key := keyOf(&r)
			p.manifest.Ranks = append(p.manifest.Ranks, shard.Rank{
				Rank: r.Rank, Host: r.Host, PID: r.PID, StartRealtimeNS: r.StartRealtimeNS,
				End: endOf(content, &r), Final: !alive[key], EndedEarly: r.EndedEarly,
			})
			p.manifest.Final = p.manifest.Final && !alive[key]
			if notes[key] != "" {
				p.manifest.Problems = append(p.manifest.Problems, notes[key])
			}
		}
		for _, part := range parts {
			if here[part.process.identity] {
				p.parts = append(p.parts, part)
			}
		}
		c.packs = append(c.packs, p)
	}
	return c
}

// processKey identifies a process among those of one world.
type processKey struct {
	rank, pid int
	host      string
	start     int64
}

func keyOf(r *trace.Rank) processKey {
	return processKey{r.Rank, r.PID, r.Host, r.StartRealtimeNS}
}

// endOf is the realtime of the last call's end on any thread of a rank, in ns.
func endOf(c *trace.Content, r *trace.Rank) int64 {
	var last int64
	for _, t := range c.Threads.All() {
		if t.Rank == r.Rank {
			last = max(last, t.EndTick)
		}
	}
	samples := r.Clock.Samples
	if last == 0 || len(samples) == 0 {
		return r.StartRealtimeNS
	}
	// the nearest sample before, carried on with the rate between first and last
	i, found := slices.BinarySearchFunc(samples, last, func(s trace.ClockSample, tick int64) int { return cmp.Compare(s.Ticks, tick) })
	if !found && i > 0 {
		i--
	}
	i = min(i, len(samples)-1)
	rate := 1.0
	if first, end := samples[0], samples[len(samples)-1]; r.Clock.Kind == "tsc" && end.Ticks > first.Ticks {
		rate = float64(end.MonotonicNS-first.MonotonicNS) / float64(end.Ticks-first.Ticks)
	}
	return samples[i].RealtimeNS + int64(float64(last-samples[i].Ticks)*rate)
}
