package report

import (
	"github.com/cairn-mpi/cairn/analyzer/callsite"
)

// What the panels of ranks have beyond what is on the page already, at most.
const (
	maxPanelPairs  = 500
	maxPanelDelays = 100
)

// chartPanel is what a panel shows of a rank and no table has. The script finds the rest on the page: the row of the table
// of ranks, the ledger, the time line. All that is listed is bounded, whatever the number of ranks.
func (r *Report) chartPanel() any {
	type pair [5]any // rank, for whom it waited, pattern, times, seconds
	type delay [3]any
	type place [6]any // what, times, seconds, mean of all ranks, waiting, on the path
	type cpus [4]any  // share, run delay, seconds stopped, preemptions
	data := struct {
		Kinds      []string        `json:"kinds"`
		Pairs      []pair          `json:"pairs"`
		Delays     []delay         `json:"delays"` // rank, what took longer, seconds that others waited
		Activities map[int][]place `json:"activities"`
		CPUs       map[int]cpus    `json:"cpus"`
		Hosts      map[int]string  `json:"hosts"` // where the table has pods instead
	}{Kinds: []string{}, Pairs: []pair{}, Delays: []delay{}, Activities: map[int][]place{}, CPUs: map[int]cpus{}, Hosts: map[int]string{}}
	shown := map[int]bool{}
	for _, rank := range r.listedRanks() {
		shown[rank.Rank] = true
		if r.inPods() && rank.Host != rank.Pod {
			data.Hosts[rank.Rank] = rank.Host
		}
	}
	if r.Waits != nil {
		number := map[string]int{}
		for _, p := range first(r.Waits.ByPair, maxPanelPairs) {
			i, known := number[p.Kind]
			if !known {
				i = len(data.Kinds)
				number[p.Kind] = i
				data.Kinds = append(data.Kinds, p.Kind)
			}
			data.Pairs = append(data.Pairs, pair{p.Rank, p.Cause, i, p.Count, rounded(p.Seconds)})
		}
	}
	if r.RootCauses != nil {
		for _, d := range first(r.RootCauses.Delays, maxPanelDelays) {
			data.Delays = append(data.Delays, delay{d.Rank, activity(d.Function, d.CallSite), rounded(d.ShortTerm + d.LongTerm)})
		}
	}
	for _, of := range r.RankActivities {
		for _, a := range of.Activities {
			what := callsite.At(a.Function, a.CallSite)
			if a.Function == "computation" {
				what = a.CallSite
			}
			data.Activities[of.Rank] = append(data.Activities[of.Rank], place{what, a.Count, rounded(a.Seconds), rounded(a.Mean), rounded(a.Waiting), rounded(a.Path)})
		}
	}
	for _, c := range r.RankCPUs {
		if !shown[c.Rank] {
			continue
		}
		one := cpus{rounded(c.Share), nil, nil, c.Preemptions}
		if c.RunDelay != nil {
			one[1] = rounded(*c.RunDelay)
		}
		if c.StoppedSeconds != nil {
			one[2] = rounded(*c.StoppedSeconds)
		}
		data.CPUs[c.Rank] = one
	}
	return data
}
