package shipper

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-mpi/cairn/internal/version"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// worldID returns the short name of a world in keys. Each pod computes it from what all ranks of a
// launch know.
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

// state identifies the content of a shard of these processes: if it has not changed there is
// nothing to upload. That of a running process changes with time.
func state(processes []process, resolved string) string {
	var b strings.Builder
	for _, p := range processes {
		fmt.Fprintf(&b, "%s %v\n", p.name, p.alive)
	}
	return b.String() + resolved
}

// A pack is ranks of one world, or of one start of it, as a trace.
type pack struct {
	content  *trace.Content
	manifest shard.Manifest
	parts    []processPart // with times of the content
	moved    []int         // indices of those that were uploaded with it
	// directories are the spool directories of its ranks
	directories map[int]string
}

// identities returns the processes in a pack.
func (p *pack) identities() []identity { return identitiesOf(&p.manifest) }

// A collection is the result of processing processes of a world.
type collection struct {
	packs    []pack
	problems []string        // of processes that are in no pack
	unread   []string        // likewise, for those that may be readable next time
	unusable map[string]bool // those that left unusable data, by directory
	// unrecorded are processes without recorded calls, by directory, with the text to report
	unrecorded map[string]string
}

// joined reports whether different signatures of a process became one on a thread whose first calls
// are unknown.
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

// A collector makes packs of the processes of one world, which are added one by one.
type collector struct {
	collection
	launchID string
	identity Identity
	tables   *symbolTables
	final    bool // the packs are finished traces
	merger   merger.Merger
	taken    []process // all processes added
	added    []string  // directories of those that go into packs
	parts    []processPart
	memory   int64                   // approximate memory until the packs are released
	members  map[processKey][]member // of the added processes; several: restarts
}

// newCollector returns a collector. final reports that no process of the world is added later, or
// elsewhere: then its packs are finished traces instead of shards.
func newCollector(launchID string, id Identity, tables *symbolTables, final bool) *collector {
	return &collector{
		collection: collection{unusable: map[string]bool{}, unrecorded: map[string]string{}},
		launchID:   launchID, identity: id, tables: tables, final: final, merger: merger.Merger{Unfinished: !final},
		members: map[processKey][]member{},
	}
}

// add adds a process.
func (k *collector) add(p process) {
	k.taken = append(k.taken, p)
	r := p.recover()
	if r.content == nil {
		switch {
		case r.unread:
			k.unread = append(k.unread, r.problem)
		case r.problem != "":
			k.problems = append(k.problems, r.problem)
		}
		if r.unrecorded != "" {
			k.unrecorded[p.name] = r.unrecorded
		}
		if r.unusable {
			k.unusable[p.name] = true
		}
		return
	}
	content := r.content
	content.Meta.World = worldID(k.launchID)
	content.Ranks.Change(0, func(r *trace.Rank) { r.Pod, r.Node = k.identity.Pod, k.identity.Node })
	modules := slices.Clone(p.modules)
	for _, m := range r.modules {
		modules = append(modules, m.Path)
	}
	k.tables.apply(content, modules)
	own := content.Ranks.At(0)
	if err := k.merger.Add(content); err != nil {
		k.problems = append(k.problems, fmt.Sprintf("process %s cannot be used: %v", p.name, err))
		k.unusable[p.name] = true
		return
	}
	key := keyOf(&own)
	k.members[key] = append(k.members[key], member{dir: p.dir, start: own.StartRealtimeNS, alive: p.alive})
	k.added = append(k.added, p.name)
	k.memory += r.memory
	for _, part := range r.parts {
		k.parts = append(k.parts, processPart{p, part})
	}
}

// finish makes the packs.
func (k *collector) finish() {
	if len(k.added) == 0 {
		return
	}
	contents, err := k.merger.Finish(merger.Options{Final: k.final, CreatedBy: version.Version})
	k.merger = merger.Merger{} // it is as large as its results
	if err != nil {
		k.problems = append(k.problems, fmt.Sprintf("world %s cannot be merged: %v", worldID(k.launchID), err))
		for _, name := range k.added {
			k.unusable[name] = true
		}
		return
	}
	for _, content := range contents {
		k.packs = append(k.packs, k.pack(content))
	}
}

// pack returns the pack with this trace.
func (k *collector) pack(content *trace.Content) pack {
	id := &k.identity
	p := pack{content: content, directories: map[int]string{}, manifest: shard.Manifest{
		World: content.Meta.World, LaunchID: k.launchID, Size: content.Meta.WorldSize, Final: true,
		Pod: id.Pod, PodUID: id.PodUID, Node: id.Node, BootID: id.BootID,
		Problems: slices.Clone(k.problems),
	}}
	for _, r := range content.Ranks.All() {
		m := k.member(&r)
		p.directories[r.Rank] = m.dir
		p.manifest.Ranks = append(p.manifest.Ranks, shard.Rank{
			Rank: r.Rank, Host: r.Host, PID: r.PID, StartRealtimeNS: r.StartRealtimeNS,
			End: endOf(content, &r), Final: !m.alive, EndedEarly: r.EndedEarly,
		})
		p.manifest.Final = p.manifest.Final && !m.alive
	}
	here := setOf(p.identities())
	for _, part := range k.parts {
		if here[part.process.identity] {
			p.parts = append(p.parts, part)
		}
	}
	return p
}

// processKey identifies a process among those of one world, except for restarts. In PID namespaces
// of their own, all ranks may have one pid.
type processKey struct {
	rank, pid int
	host      string
}

func keyOf(r *trace.Rank) processKey { return processKey{r.Rank, r.PID, r.Host} }

// A member is what the content of a process does not have.
type member struct {
	dir   string
	start int64
	alive bool
}

// member returns the member that a rank of the merged content is.
func (k *collector) member(r *trace.Rank) member {
	for _, m := range k.members[keyOf(r)] {
		if r.StartedAt(m.start) {
			return m
		}
	}
	return member{}
}

// endOf returns the realtime in ns of the end of the last call on any thread of a rank.
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
	// the nearest sample before, extrapolated with the rate between first and last
	i, found := slices.BinarySearchFunc(samples, last, func(s timing.ClockSample, tick int64) int { return cmp.Compare(s.Ticks, tick) })
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
