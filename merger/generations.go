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
)

// distinct drops what arrived more than once: an upload that was repeated, or
// a checkpoint of a rank whose final trace is there too. Of one process the
// version with the most calls stays. The result is sorted by start.
func (p *pool) distinct(processes []*process) ([]*process, []string) {
	sorted := slices.Clone(processes)
	digests := map[*process][]byte{}
	digest := func(x *process) []byte {
		d, ok := digests[x]
		if !ok {
			d = p.digest(x)
			digests[x] = d
		}
		return d
	}
	slices.SortStableFunc(sorted, compareIdentity)
	var notes []string
	var kept []*process
	for i := 0; i < len(sorted); {
		best := sorted[i]
		j := i + 1
		for ; j < len(sorted) && compareIdentity(best, sorted[j]) == 0; j++ {
			other := sorted[j]
			// fewer calls, or an end not yet known, is an earlier state of the same process
			order := cmp.Or(cmp.Compare(other.calls(), best.calls()), cmp.Compare(ended(other), ended(best)))
			if order == 0 {
				if order = bytes.Compare(digest(best), digest(other)); order != 0 {
					notes = append(notes, fmt.Sprintf("rank %d arrived twice with different content; one was chosen", best.rank.Rank))
				} else {
					order = compareClocks(&other.rank.Clock, &best.rank.Clock)
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

// Running is the EndedEarly of a rank whose process still lived when its trace
// was taken. Any later version of the same process replaces it.
const Running = "running"

func ended(x *process) int {
	if x.rank.EndedEarly == Running {
		return 0
	}
	return 1
}

// compareIdentity orders processes by start; it is 0 for versions of the same process.
func compareIdentity(a, b *process) int {
	return cmp.Or(
		cmp.Compare(a.rank.StartRealtimeNS, b.rank.StartRealtimeNS),
		cmp.Compare(a.rank.Rank, b.rank.Rank),
		cmp.Compare(a.rank.Host, b.rank.Host),
		cmp.Compare(a.rank.PID, b.rank.PID),
	)
}

// generations splits processes, sorted by start, so that each rank occurs at
// most once in each part. Ranks of one world start together and worlds with
// the same id one after the other, so a cut is put where the start times lie
// furthest apart between a rank and its next occurrence.
func generations(processes []*process) [][]*process {
	var parts [][]*process
	start := 0
	last := map[int]int{} // rank -> position in the current part
	for i := 0; i < len(processes); i++ {
		previous, again := last[processes[i].rank.Rank]
		if !again {
			last[processes[i].rank.Rank] = i
			continue
		}
		cut := previous + 1
		for k := previous + 1; k <= i; k++ {
			if gap(processes, k) > gap(processes, cut) {
				cut = k
			}
		}
		parts = append(parts, processes[start:cut])
		start = cut
		clear(last)
		for k := cut; k <= i; k++ {
			last[processes[k].rank.Rank] = k
		}
	}
	return append(parts, processes[start:])
}

func gap(processes []*process, i int) int64 {
	return processes[i].rank.StartRealtimeNS - processes[i-1].rank.StartRealtimeNS
}

// compareClocks orders clocks by how far they were sampled: whoever finishes a
// process adds a last sample, so a repeated recovery differs in it.
func compareClocks(a, b *trace.Clock) int {
	last := func(c *trace.Clock) trace.ClockSample {
		if n := len(c.Samples); n > 0 {
			return c.Samples[n-1]
		}
		return trace.ClockSample{}
	}
	x, y := last(a), last(b)
	return cmp.Or(cmp.Compare(x.Ticks, y.Ticks), cmp.Compare(x.MonotonicNS, y.MonotonicNS), cmp.Compare(x.RealtimeNS, y.RealtimeNS),
		cmp.Compare(len(a.Samples), len(b.Samples)))
}

// digest is a hash of all that the process did, free of pool numbers and of the clock.
func (p *pool) digest(x *process) []byte {
	h := sha256.New()
	write := func(b []byte) { h.Write(binary.AppendUvarint(nil, uint64(len(b)))); h.Write(b) }
	fmt.Fprintf(h, "%s %d %s", x.rank.Host, x.rank.PID, x.rank.EndedEarly)
	for _, id := range x.rank.CommunicatorsOwn {
		write(communicatorKey(&p.communicators[id]))
	}
	for i := range x.threads {
		t := &x.threads[i]
		s := &p.shapes[t.shape]
		for k, id := range s.templates {
			write(p.templateKey(id))
			p.digestColumns(h, s, t.row, k)
		}
		for _, body := range s.rules {
			write(appendRule(nil, body))
		}
		for k := s.exponents; k < len(s.columns); k++ {
			fmt.Fprintf(h, "%d ", s.columns[k].at(t.row))
		}
		fmt.Fprintf(h, "%d %d %d %d %d ", t.number, t.calls, t.firstTick, t.endTick, t.insideTicks)
		t.digestTiming(h)
	}
	return h.Sum(nil)
}

// templateKey is a template without pool numbers.
func (p *pool) templateKey(id int32) []byte {
	var b []byte
	s := mapSites(p.templates[id].signature, func(site uint32) uint32 {
		b = append(b, p.siteIdentity(site)...)
		return 0
	})
	segments := segmentsOf(&s)
	anonymous := withSegments(s, make([]int32, len(p.segments)))
	b = trace.AppendSignature(b, &anonymous)
	for _, id := range segments {
		b = append(b, p.segmentIdentity(id)...)
	}
	return b
}

// digestColumns adds what a thread has in the columns of one signature.
func (p *pool) digestColumns(h io.Writer, s *shape, row, signature int) {
	t := &p.templates[s.templates[signature]]
	for k := range t.width() {
		code := s.columns[s.first[signature]+k].at(row)
		switch {
		case code&1 == 0 || code == noStream:
			fmt.Fprintf(h, "%d ", code)
		case k <= t.slots:
			fmt.Fprintf(h, "%q ", p.names[code>>1])
		default:
			fmt.Fprintf(h, "s%d ", hashValues(p.sequences[code>>1]))
		}
	}
}
