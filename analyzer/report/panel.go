package report

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
)

// Limits of lists in the panels of ranks, beyond what is on the page already.
const (
	maxPanelPairs  = 500
	maxPanelDelays = 100
)

// chartPanel returns the data of the panels of ranks that no table has. The script finds the rest
// on the page: the row of the table of ranks, the ledger, the timeline. All lists are bounded,
// whatever the number of ranks.
func (r *Report) chartPanel() any {
	type pair [5]any // rank, for whom it waited, pattern, times, seconds
	type delay [3]any
	type place [6]any // what, times, seconds, mean of all ranks, waiting, on the path
	type cpu [4]any   // share, run delay, seconds stopped, preemptions
	data := struct {
		Kinds      []string        `json:"kinds"`
		Pairs      []pair          `json:"pairs"`
		Delays     []delay         `json:"delays"` // rank, what took longer, seconds that others waited
		Activities map[int][]place `json:"activities"`
		CPUs       map[int]cpu     `json:"cpus"`
		Hosts      map[int]string  `json:"hosts"` // if the table has pods instead
	}{Kinds: []string{}, Pairs: []pair{}, Delays: []delay{}, Activities: map[int][]place{}, CPUs: map[int]cpu{}, Hosts: map[int]string{}}
	shown := map[int]bool{}
	for _, rank := range ranks.Listed(&r.Run) {
		shown[rank.Rank] = true
		if r.InPods() && rank.Host != rank.Pod {
			data.Hosts[rank.Rank] = rank.Host
		}
	}
	if w := Of[waits.Findings](r).Waits; w != nil {
		number := map[string]int{}
		for _, p := range section.First(w.ByPair, maxPanelPairs) {
			i, known := number[p.Kind]
			if !known {
				i = len(data.Kinds)
				number[p.Kind] = i
				data.Kinds = append(data.Kinds, p.Kind)
			}
			data.Pairs = append(data.Pairs, pair{p.Rank, p.Cause, i, p.Count, section.Rounded(p.Seconds)})
		}
	}
	if causes := Of[rootcauses.Findings](r).RootCauses; causes != nil {
		for _, d := range section.First(causes.Delays, maxPanelDelays) {
			data.Delays = append(data.Delays, delay{d.Rank, section.Activity(d.Function, d.CallSite), section.Rounded(d.ShortTerm + d.LongTerm)})
		}
	}
	for _, of := range Of[detail.Findings](r).RankActivities {
		for _, a := range of.Activities {
			what := callsite.At(a.Function, a.CallSite)
			if a.Function == "computation" {
				what = callsite.Short(a.CallSite)
			}
			data.Activities[of.Rank] = append(data.Activities[of.Rank], place{what, a.Count, section.Rounded(a.Seconds), section.Rounded(a.Mean), section.Rounded(a.Waiting), section.Rounded(a.Path)})
		}
	}
	for _, c := range Of[cpus.Findings](r).RankCPUs {
		if !shown[c.Rank] {
			continue
		}
		one := cpu{section.Rounded(c.Share), nil, nil, c.Preemptions}
		if c.RunDelay != nil {
			one[1] = section.Rounded(*c.RunDelay)
		}
		if c.StoppedSeconds != nil {
			one[2] = section.Rounded(*c.StoppedSeconds)
		}
		data.CPUs[c.Rank] = one
	}
	return data
}
