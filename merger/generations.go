package merger

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// A started process has the fields that processes are sorted by first.
type started struct {
	ns            int64
	rank, process int32 // process: number in order of arrival
}

// distinct drops versions of a process: repeated uploads, or a checkpoint of a rank whose final
// trace was added, too. The version with the most calls is kept. The result is sorted by start.
func (p *internTable) distinct(of *processes) ([]started, []string) {
	sorted := make([]started, of.ranks.Len())
	starts := of.ranks.Starts().Lookup()
	for i, rank := range of.ranks.Numbers().All() {
		sorted[i] = started{starts(i), int32(rank), int32(i)}
	}
	slices.SortFunc(sorted, func(a, b started) int {
		return cmp.Or(of.compareIdentity(a, b), cmp.Compare(a.process, b.process))
	})
	digests := map[int32][]byte{}
	digest := func(process int32) []byte {
		d, ok := digests[process]
		if !ok {
			d = p.digest(of, int(process))
			digests[process] = d
		}
		return d
	}
	var notes []string
	kept := sorted[:0]
	for i := 0; i < len(sorted); {
		best := sorted[i]
		j := i + 1
		for ; j < len(sorted) && of.compareIdentity(best, sorted[j]) == 0; j++ {
			other := sorted[j]
			mine, theirs := of.ranks.At(int(best.process)), of.ranks.At(int(other.process))
			// fewer calls, or no known end, mean an earlier state of the same process
			order := cmp.Or(cmp.Compare(of.calls(int(other.process)), of.calls(int(best.process))), cmp.Compare(ended(&theirs), ended(&mine)))
			if order == 0 {
				if order = bytes.Compare(digest(best.process), digest(other.process)); order != 0 {
					notes = append(notes, fmt.Sprintf("rank %d arrived twice with different content; one was chosen", best.rank))
				} else {
					order = compareClocks(&theirs.Clock, &mine.Clock)
				}
			}
			if order > 0 {
				best = other
			}
		}
		kept = append(kept, best)
		i = j
	}
	return kept, notes
}

// Running is the EndedEarly of a rank whose process still lived when its trace was taken. Any later
// version of the same process replaces it.
const Running = trace.Running

func ended(r *trace.Rank) int {
	if r.EndedEarly == Running {
		return 0
	}
	return 1
}

// compareIdentity orders processes by start; it returns 0 for versions of the same process.
func (p *processes) compareIdentity(a, b started) int {
	if order := cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.rank, b.rank)); order != 0 || a.process == b.process {
		return order
	}
	x, y := p.ranks.At(int(a.process)), p.ranks.At(int(b.process))
	return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.PID, y.PID))
}

// generations splits processes, sorted by start, so that each rank occurs at most once in each
// part. Ranks of one world start together, and worlds with the same id one after the other. So a
// cut is made at the largest distance of start times between a rank and its next occurrence. Each
// part is sorted by rank.
func generations(processes []started) [][]int32 {
	if part, once := byRank(processes); once {
		return [][]int32{part}
	}
	var parts [][]int32
	add := func(part []started) {
		sorted, _ := byRank(part)
		parts = append(parts, sorted)
	}
	start := 0
	last := map[int32]int{} // rank → index in the current part
	for i := range processes {
		previous, again := last[processes[i].rank]
		if !again {
			last[processes[i].rank] = i
			continue
		}
		cut := previous + 1
		for k := previous + 1; k <= i; k++ {
			if gap(processes, k) > gap(processes, cut) {
				cut = k
			}
		}
		add(processes[start:cut])
		start = cut
		clear(last)
		for k := cut; k <= i; k++ {
			last[processes[k].rank] = k
		}
	}
	add(processes[start:])
	return parts
}

// byRank sorts processes by rank and reports whether each rank occurs once.
func byRank(processes []started) (order []int32, once bool) {
	sorted := slices.Clone(processes)
	slices.SortFunc(sorted, func(a, b started) int { return cmp.Compare(a.rank, b.rank) })
	order, once = make([]int32, len(sorted)), true
	for i := range sorted {
		order[i] = sorted[i].process
		once = once && (i == 0 || sorted[i].rank != sorted[i-1].rank)
	}
	return order, once
}

func gap(processes []started, i int) int64 {
	return processes[i].ns - processes[i-1].ns
}

// compareClocks orders clocks by their last samples: finishing a process adds a last sample, so
// repeated recoveries differ in it.
func compareClocks(a, b *timing.Clock) int {
	last := func(c *timing.Clock) timing.ClockSample {
		if n := len(c.Samples); n > 0 {
			return c.Samples[n-1]
		}
		return timing.ClockSample{}
	}
	x, y := last(a), last(b)
	return cmp.Or(cmp.Compare(x.Ticks, y.Ticks), cmp.Compare(x.MonotonicNS, y.MonotonicNS), cmp.Compare(x.RealtimeNS, y.RealtimeNS),
		cmp.Compare(len(a.Samples), len(b.Samples)))
}

// digest is a hash of everything that the process did, independent of intern table numbers and of
// the clock.
func (p *internTable) digest(of *processes, process int) []byte {
	rank := of.ranks.At(process)
	h := sha256.New()
	write := func(b []byte) { h.Write(binary.AppendUvarint(nil, uint64(len(b)))); h.Write(b) }
	fmt.Fprintf(h, "%s %d %s", rank.Host, rank.PID, rank.EndedEarly)
	for _, id := range rank.CommunicatorsOwn {
		write(communicatorKey(&p.communicators[id]))
	}
	from, to := of.threadsOf(process)
	for row := from; row < to; row++ {
		t := of.threads.At(row)
		s := &p.shapes[t.Shape]
		for k, id := range s.templates {
			write(p.templateKey(id))
			p.digestColumns(h, s, t.InShape, k)
		}
		for _, body := range s.rulesOf(t.InShape) {
			write(appendRule(nil, body))
		}
		fmt.Fprintf(h, "%d %d %d %d %d ", t.Thread, t.Calls, t.FirstTick, t.EndTick, t.InsideTicks)
		if len(t.CallsAtVotes) > 0 {
			fmt.Fprintf(h, "%d %v %v ", t.CallsAtVotes, t.Extrapolations, t.Overheads)
		}
		digestTiming(h, &t)
	}
	return h.Sum(nil)
}

// templateKey is a template without intern table numbers.
func (p *internTable) templateKey(id int32) []byte {
	var b []byte
	s := p.templates[id].signature.WithSites(func(site uint32) uint32 {
		b = append(b, p.siteIdentity(site)...)
		return 0
	})
	allocations := allocationsOf(&s)
	anonymous := withAllocations(s, make([]int32, len(p.allocations)))
	b = trace.AppendSignature(b, &anonymous)
	for _, id := range allocations {
		b = append(b, p.allocationIdentity(id)...)
	}
	return b
}

// digestColumns adds the values of a thread in the columns of one signature.
func (p *internTable) digestColumns(h io.Writer, s *shape, row, signature int) {
	t := p.templates[s.templates[signature]]
	for k := range t.width() {
		code := s.columns[s.first[signature]+k].At(row)
		switch {
		case code&1 == 0 || code == noStream:
			fmt.Fprintf(h, "%d ", code)
		case k <= t.slots:
			fmt.Fprintf(h, "%q ", p.names[code>>1])
		default:
			fmt.Fprintf(h, "s%x ", p.sequences.List[code>>1].Key())
		}
	}
}
