package clusters

import (
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/traffic"
)

// peers returns Chameleon's SRC and DEST signatures (§III): the mean distance, over all messages,
// of the ranks that a rank sends to and receives from, relative to itself, as a share of the world.
// Ranks in the same position of a regular pattern have equal ones.
func peers(traffic []traffic.Pair, size int) map[int]point {
	type sum struct{ offset, messages [2]float64 }
	sums := map[int]*sum{}
	add := func(rank, way, offset int, n uint64) {
		s := sums[rank]
		if s == nil {
			s = &sum{}
			sums[rank] = s
		}
		s.offset[way] += float64(offset) * float64(n)
		s.messages[way] += float64(n)
	}
	for _, t := range traffic {
		if t.Source < 0 || t.Dest < 0 {
			continue
		}
		add(t.Source, 0, t.Dest-t.Source, t.Messages)
		add(t.Dest, 1, t.Source-t.Dest, t.Messages)
	}
	points := make(map[int]point, len(sums))
	for rank, s := range sums {
		p := make(point, 2)
		for way := range p {
			if s.messages[way] > 0 {
				p[way] = s.offset[way] / s.messages[way] / float64(size)
			}
		}
		points[rank] = p
	}
	return points
}

// spent is how a rank spent its time, in seconds.
type spent struct {
	computation, mpi, waiting float64
	sums                      bool // waiting is unknown
}

// spans returns how the ranks' main threads spent their time, from the threads' headers: it reads
// no calls.
func spans(t timeline.Trace) map[int]spent {
	all := map[int]spent{}
	locations := timeline.Locations(t)
	for i, thread := range t.Threads().All() {
		if locations[i].Main != i || thread.EndTick <= thread.FirstTick {
			continue
		}
		begin, end := t.Span(i)
		whole := float64(end-begin) / 1e9
		ticks := float64(thread.EndTick - thread.FirstTick)
		inside := min(1, float64(thread.InsideTicks)/ticks)
		all[thread.Rank] = spent{computation: whole * max(0, 1-inside-float64(thread.OverheadTicks())/ticks), mpi: whole * inside, sums: true}
	}
	return all
}

// spentTimes maps ranks to computation, time in MPI and waiting, as shares of the mean computation
// and MPI of all.
func spentTimes(times map[int]spent, ranks []int) map[int]point {
	mean := 0.0
	for _, rank := range ranks {
		mean += times[rank].computation + times[rank].mpi
	}
	if mean /= float64(len(ranks)); mean == 0 {
		return nil
	}
	points := make(map[int]point, len(ranks))
	for _, rank := range ranks {
		s, known := times[rank]
		if known {
			points[rank] = point{s.computation / mean, (s.mpi - s.waiting) / mean, s.waiting / mean}
		}
	}
	return points
}
