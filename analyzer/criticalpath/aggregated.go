package criticalpath

import (
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// aggregatedNote is the refusal.
const aggregatedNote = "The times of single calls were not kept (timing aggregated): there is no critical path, no wait states, no efficiencies and no verdict. Times of ranks, functions and call sites are sums."

// sums is what can be told of a trace with aggregated timing: who spent how long in which calls.
func sums(t timeline.Trace) (Findings, error) {
	n := newNames(t)
	f := Findings{
		SchemaVersion: SchemaVersion, Timing: timingError(t.Meta(), 0), Notes: []string{aggregatedNote},
		Verdict: Verdict{Blames: BlamesNobody, Text: "No verdict: " + aggregatedNote}, Ranks: []RankTime{}, Functions: []FunctionTime{}, CallSites: []SiteTime{},
		Computation: []RegionTime{}, WaitStates: []WaitTime{}, WhatIf: []WhatIf{},
		Waits: WaitBreakdown{ByRank: []RankWait{}, ByCallSite: []SiteWait{}, ByPair: []PairWait{}}, RootCauses: RootCauses{Delays: []Delay{}},
		Path: Path{ByRank: []RankShare{}, ByFunction: []FuncShare{}, ByCallSite: []SiteShare{}, Segments: []Segment{},
			ByNode: []NodeShare{}, ByPhase: []PhaseShare{}, NearCritical: []RankSlack{}, Impact: Impact{Activities: []ActivityImpact{}}},
	}
	f.Notes = append(f.Notes, t.Meta().Notes...)
	row := map[int]int{}
	for i, r := range t.Ranks().All() {
		row[r.Rank] = i
		f.Ranks = append(f.Ranks, RankTime{Rank: r.Rank, Pod: r.Pod, Node: r.Node, Host: r.Host, EndedEarly: r.EndedEarly})
	}
	functions, sites := map[string]*FunctionTime{}, map[[2]string]*SiteTime{}
	main := map[int]bool{}
	for i, thread := range t.Threads().All() {
		begin, end := t.Span(i)
		perTick := 0.0
		if ticks := thread.EndTick - thread.FirstTick; ticks > 0 {
			perTick = float64(end-begin) / 1e9 / float64(ticks)
		}
		r := &f.Ranks[row[thread.Rank]]
		r.Calls += thread.Calls
		if !main[thread.Rank] {
			main[thread.Rank] = true
			r.MPI = float64(thread.InsideTicks) * perTick
			r.Computation = float64(end-begin)/1e9 - r.MPI - float64(thread.Held())*perTick
			f.RunSeconds = max(f.RunSeconds, float64(end-begin)/1e9)
		}
		aggregates, err := t.Aggregates(i)
		if err != nil {
			return Findings{}, err
		}
		for k := range aggregates {
			a := &aggregates[k]
			s := &t.Signatures()[a.Terminal]
			seconds := float64(a.Durations.Sum) * perTick
			name := n.function(s.Function)
			if functions[name] == nil {
				functions[name] = &FunctionTime{Function: name}
			}
			functions[name].Calls += a.Durations.Count
			functions[name].Seconds += seconds
			if s.Site == 0 {
				continue
			}
			key := [2]string{name, n.place(s.Function, s.Site).CallSite}
			if sites[key] == nil {
				sites[key] = &SiteTime{Function: name, CallSite: key[1]}
			}
			sites[key].Calls += a.Durations.Count
			sites[key].Seconds += seconds
		}
	}
	for _, time := range functions {
		f.Functions = append(f.Functions, *time)
	}
	sort.Slice(f.Functions, func(i, j int) bool {
		a, b := &f.Functions[i], &f.Functions[j]
		return a.Seconds > b.Seconds || a.Seconds == b.Seconds && a.Function < b.Function
	})
	for _, time := range sites {
		f.CallSites = append(f.CallSites, *time)
	}
	sort.Slice(f.CallSites, func(i, j int) bool {
		a, b := &f.CallSites[i], &f.CallSites[j]
		return a.Seconds > b.Seconds || a.Seconds == b.Seconds && a.Function+a.CallSite < b.Function+b.CallSite
	})
	return f, nil
}
