package clock

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace"
)

// domains numbers the clocks of a run: of[i] is the clock of row i of Trace.Ranks.
func domains(ranks *trace.RankTable) (of []int, ids []string) {
	of = make([]int, ranks.Len())
	number := map[string]int{}
	for i, r := range ranks.All() {
		id := r.BootID
		if id == "" {
			id = "host " + r.Host
		}
		d, ok := number[id]
		if !ok {
			d = len(ids)
			number[id] = d
			ids = append(ids, id)
		}
		of[i] = d
	}
	return of, ids
}

// guess returns each domain's offset from monotonic to wall-clock time, relative to the first
// domain's. It is the median over the samples of all its ranks, so that a step of a wall clock
// during the run does not change it.
func guess(ranks *trace.RankTable, of []int, n int) []int64 {
	samples := make([][]int64, n)
	for i, r := range ranks.All() {
		for _, s := range r.Clock.Samples {
			if s.RealtimeNS != 0 {
				samples[of[i]] = append(samples[of[i]], s.RealtimeNS-s.MonotonicNS)
			}
		}
	}
	offsets := make([]int64, n)
	for d := range offsets {
		if len(samples[d]) > 0 {
			slices.Sort(samples[d])
			offsets[d] = samples[d][len(samples[d])/2]
		}
	}
	first := offsets[0]
	for d := range offsets {
		offsets[d] -= first
	}
	return offsets
}
