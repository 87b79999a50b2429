package whatif

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Analysis predicts the duration of the run under other conditions.
var Analysis = analysis.New("whatif", analysis.About{Title: "what if", Version: 1, Sections: Sections}, find, accounts.Pass, causes.Pass, run.Analysis)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	a := accounts.Pass.Result(r)
	if a.Sums {
		return Findings{}, nil
	}
	return Findings{WhatIf: whatIfs(a, causes.Pass.Result(r))}, nil
}

// whatIfs returns the ideal network, then each hypothesis by itself that promises a gain, largest
// gain first.
func whatIfs(a *accounts.Accounts, found *causes.Found) []WhatIf {
	run := a.Progressed - a.Start
	if run <= 0 {
		return []WhatIf{}
	}
	share := func(ns int64) float64 { return float64(ns) / float64(run) }
	row := func(what string, kind verdict.Kind, length int64, assumes string) WhatIf {
		return WhatIf{What: what, Kind: kind, Seconds: accounts.Seconds(length), Gain: share(run - length), Assumes: assumes}
	}
	list := []WhatIf{row("the network and MPI cost nothing", verdict.Network, found.Ideal,
		"Messages arrive when they are sent, calls take only the time that they wait for others; file operations take as long as in the run.")}
	for i := range found.All {
		h := &found.All[i]
		if share(run-h.Promised()) < causes.MinPromise {
			continue
		}
		w := row(h.What, h.Cause.Kind, h.Promised(), h.Assumes)
		w.Estimate, w.Rank = h.Cause.Estimate, h.Cause.Rank
		if h.IsOfCalls() {
			w.Site = new(h.Cause.Before)
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list[1:], func(x, y WhatIf) int { return cmp.Compare(x.Seconds, y.Seconds) })
	return list
}
