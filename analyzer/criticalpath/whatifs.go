package criticalpath

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// whatIfAnalysis tells how long the run would have taken under other conditions.
var whatIfAnalysis = analysis.New("whatif", analysis.About{Title: "what if", Version: 1}, findWhatIfs, accountsPass, replayPass)

func findWhatIfs(ctx context.Context, r *pass.Run) (whatif.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil || a.sums {
		return whatif.Findings{}, err
	}
	found, err := replayPass.Of(ctx, r)
	if err != nil {
		return whatif.Findings{}, err
	}
	return whatif.Findings{WhatIf: whatIfs(a, found)}, nil
}

// whatIfs is the table of what-ifs: the ideal network, and every hypothesis alone that promises something, most first.
func whatIfs(a *allAccounts, found *found) []whatif.WhatIf {
	if a.run() <= 0 {
		return []whatif.WhatIf{}
	}
	row := func(what string, kind verdict.Kind, length int64, assumes string) whatif.WhatIf {
		return whatif.WhatIf{What: what, Kind: kind, Seconds: inSeconds(length), Gain: a.share(a.run() - length), Assumes: assumes}
	}
	list := []whatif.WhatIf{row("the network and MPI cost nothing", verdict.Network, found.ideal,
		"Messages arrive when they are sent, calls take no time but what they wait for others; file operations keep theirs.")}
	for i := range found.all {
		h := &found.all[i]
		if a.share(a.run()-h.promised()) < minPromise {
			continue
		}
		w := row(h.what, h.cause.Kind, h.promised(), h.assumes)
		w.Estimate, w.Rank = h.cause.Estimate, h.cause.Rank
		if h.isOfCalls() {
			w.Site = new(h.cause.Before)
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list[1:], func(x, y whatif.WhatIf) int { return cmp.Compare(x.Seconds, y.Seconds) })
	return list
}
