package criticalpath

import (
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// takeSums makes accounts of a trace's aggregates. A computation is known by the call that follows it only.
func takeSums(t timeline.Trace) (*allAccounts, error) {
	locations := timeline.Locations(t)
	a := newAccounts(t, locations, make([]extent, len(locations)))
	a.sums, a.ofLeads, a.each = true, false, make([]account, len(locations))
	clocks := map[string]extent{} // ranks of one boot id share a clock
	for i, thread := range t.Threads().All() {
		begin, end := t.Span(i)
		l := a.locations[i]
		a.extents[i] = extent{start: begin, end: end, empty: thread.Calls == 0}
		aggregates, err := t.Aggregates(i)
		if err != nil {
			return nil, err
		}
		perTick := 0.0
		if ticks := thread.EndTick - thread.FirstTick; ticks > 0 {
			perTick = float64(end-begin) / float64(ticks)
		}
		a.each[i] = account{
			tallies: map[activity]*tally{}, calls: thread.Calls,
			mpi: int64(float64(thread.InsideTicks) * perTick), held: int64(float64(thread.Held()) * perTick),
		}
		for k := range aggregates {
			a.sum(i, &aggregates[k], perTick)
		}
		if l.Main != i || thread.Calls == 0 {
			continue
		}
		a.mainOf[l.Row] = i
		domain, known := clocks[a.ranks[l.Row].BootID]
		if !known {
			domain = extent{start: begin, end: end}
		}
		clocks[a.ranks[l.Row].BootID] = extent{start: min(domain.start, begin), end: max(domain.end, end)}
	}
	// clocks of different nodes are not compared: ranks come to MPI_Init and leave MPI_Finalize together closely enough
	for _, id := range slices.Sorted(maps.Keys(clocks)) {
		if d := clocks[id]; d.end-d.start > a.run() {
			a.start, a.end = d.start, d.end
		}
	}
	return a, nil
}

// sum adds an aggregate to the accounts of its location: the calls, and the computation before them. There is none before
// MPI_Init, and what passes while tracing is off is not told.
func (a *allAccounts) sum(location int, aggregate *timing.Aggregate, perTick float64) {
	account := &a.each[location]
	signature := &a.names.trace.Signatures()[aggregate.Terminal]
	add := func(what activity, of *timing.IntervalStatistics) int64 {
		t := tallyOf(of, perTick)
		for _, tallies := range []map[activity]*tally{account.tallies, a.total} {
			if tallies[what] == nil {
				tallies[what] = new(tally)
			}
			tallies[what].add(&t)
		}
		return t.ns
	}
	kind := kindOf(a.names.trace.Semantics(signature.Function))
	inside := add(activity{function: signature.Function, site: signature.Site}, &aggregate.Durations)
	switch kind {
	case accounts.Initialization:
		account.initialize += inside
		return
	case accounts.Finalization:
		account.finalize += inside
	case accounts.Computation, accounts.Communication, accounts.InputOutput, accounts.Launch, accounts.Untraced:
	}
	if signature.Untraced {
		account.untraced += int64(float64(aggregate.Gaps.Sum) * perTick)
		return
	}
	account.compute += add(activity{next: signature.Function, nextSite: signature.Site}, &aggregate.Gaps)
	account.disturbance = max(account.disturbance, disturbanceOf(&aggregate.Gaps, perTick))
}

// tallyOf is a tally of intervals; their squares are those of the middles of the histogram's bins, scaled to the sum.
func tallyOf(s *timing.IntervalStatistics, perTick float64) tally {
	t := tally{count: s.Count, ns: int64(math.Round(float64(s.Sum) * perTick))}
	sum, squares := 0.0, 0.0
	for _, b := range s.Histogram {
		from, to := max(timing.BinStart(b.Bin), s.Min), min(timing.BinStart(b.Bin+1), s.Max)
		middle := (float64(from) + float64(max(from, to))) / 2
		sum += float64(b.Count) * middle
		squares += float64(b.Count) * middle * middle
	}
	if sum > 0 {
		scale := float64(s.Sum) / sum * perTick / 1e9
		t.squares = squares * scale * scale
	}
	return t
}

// disturbanceOf is by how much, in nanoseconds, the longest interval of what repeats is beyond the lower fifth.
func disturbanceOf(s *timing.IntervalStatistics, perTick float64) int64 {
	if s.Count < repeated {
		return 0
	}
	below, fifth := uint64(0), s.Min
	for _, b := range s.Histogram {
		if below += b.Count; 5*below >= s.Count {
			fifth = max(s.Min, timing.BinStart(b.Bin))
			break
		}
	}
	return int64(float64(s.Max-fifth) * perTick)
}
