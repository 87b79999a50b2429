package accounts

import (
	"maps"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// takeSums makes accounts of a trace's aggregates. A computation is identified only by the call
// that follows it.
func takeSums(t timeline.Trace) (*Accounts, error) {
	locations := timeline.Locations(t)
	a := newAccounts(t, locations, make([]matching.Extent, len(locations)))
	a.Sums, a.OfLeads, a.Each = true, false, make([]Account, len(locations))
	clocks := map[string]matching.Extent{} // ranks of one boot id share a clock
	for i, thread := range t.Threads().All() {
		begin, end := t.Span(i)
		l := a.Locations[i]
		a.Extents[i] = matching.Extent{Start: begin, End: end, Empty: thread.Calls == 0}
		aggregates, err := t.Aggregates(i)
		if err != nil {
			return nil, err
		}
		perTick := 0.0
		if ticks := thread.EndTick - thread.FirstTick; ticks > 0 {
			perTick = float64(end-begin) / float64(ticks)
		}
		a.Each[i] = Account{
			Tallies: map[Activity]*Tally{}, Calls: thread.Calls,
			Mpi: int64(float64(thread.InsideTicks) * perTick), Overhead: int64(float64(thread.OverheadTicks()) * perTick),
		}
		for k := range aggregates {
			a.sum(i, &aggregates[k], perTick)
		}
		if l.Main != i || thread.Calls == 0 {
			continue
		}
		a.MainOf[l.Row] = i
		domain, known := clocks[a.Ranks[l.Row].BootID]
		if !known {
			domain = matching.Extent{Start: begin, End: end}
		}
		clocks[a.Ranks[l.Row].BootID] = matching.Extent{Start: min(domain.Start, begin), End: max(domain.End, end)}
	}
	// clocks of different nodes are not compared: ranks enter MPI_Init and leave MPI_Finalize
	// closely enough together
	for _, id := range slices.Sorted(maps.Keys(clocks)) {
		if d := clocks[id]; d.End-d.Start > a.Run() {
			a.Start, a.End, a.Progressed = d.Start, d.End, d.End
		}
	}
	return a, nil
}

// sum adds an aggregate to the accounts of its location: its calls and the computation before them.
// There is no computation before MPI_Init. What the program did while tracing was off is not known.
func (a *Accounts) sum(location int, aggregate *timing.Aggregate, perTick float64) {
	account := &a.Each[location]
	signature := &a.Names.Trace.Signatures()[aggregate.Terminal]
	add := func(what Activity, of *timing.IntervalStatistics) int64 {
		t := tallyOf(of, perTick)
		for _, tallies := range []map[Activity]*Tally{account.Tallies, a.Total} {
			if tallies[what] == nil {
				tallies[what] = new(Tally)
			}
			tallies[what].add(&t)
		}
		return t.Ns
	}
	kind := kindOf(a.Names.Trace.Semantics(signature.Function))
	inside := add(Activity{Function: signature.Function, Site: signature.Site}, &aggregate.Durations)
	switch kind {
	case Initialization:
		account.Initialize += inside
		return
	case Finalization:
		account.Finalize += inside
	case Computation, Communication, InputOutput, Launch, Untraced:
	}
	if signature.Untraced {
		account.Untraced += int64(float64(aggregate.Gaps.Sum) * perTick)
		return
	}
	account.Compute += add(Activity{Next: signature.Function, NextSite: signature.Site}, &aggregate.Gaps)
	account.Disturbance = max(account.Disturbance, disturbanceOf(&aggregate.Gaps, perTick))
}

// tallyOf returns the tally of an interval's statistics. The squares are computed from the middles
// of the histogram's bins, scaled to the sum.
func tallyOf(s *timing.IntervalStatistics, perTick float64) Tally {
	t := Tally{Count: s.Count, Ns: int64(math.Round(float64(s.Sum) * perTick))}
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

// disturbanceOf returns how much longer, in nanoseconds, the longest interval took than the lower
// fifth; 0 if it does not repeat.
func disturbanceOf(s *timing.IntervalStatistics, perTick float64) int64 {
	if s.Count < Repeated {
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
