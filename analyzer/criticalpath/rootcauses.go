package criticalpath

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// rootCausesAnalysis says what all the waiting is put down to.
var rootCausesAnalysis = analysis.New("rootcauses", analysis.About{Title: "root causes of waiting", Version: 1}, findRootCauses, accountsPass, delaysPass)

func findRootCauses(ctx context.Context, r *pass.Run) (rootcauses.Findings, error) {
	a, err := accountsPass.Of(ctx, r)
	if err != nil {
		return rootcauses.Findings{}, err
	}
	d, err := delaysPass.Of(ctx, r)
	if d == nil || err != nil {
		return rootcauses.Findings{}, err
	}
	return rootcauses.Findings{RootCauses: rootCausesOf(a, d), Notes: d.notes()}, nil
}

// rootCausesOf words the costs of delays.
func rootCausesOf(a *allAccounts, d *delays) *rootcauses.RootCauses {
	f := &rootcauses.RootCauses{
		WaitingSeconds: inSeconds(d.all), DirectSeconds: d.direct / 1e9, IndirectSeconds: d.indirect / 1e9, Delays: []rootcauses.Delay{},
	}
	f.UnexplainedSeconds = max(0, f.WaitingSeconds-f.DirectSeconds-f.IndirectSeconds)
	rows := d.costliest()
	f.DelaysOmitted = max(0, len(rows)-maxRows)
	for _, x := range rows[:len(rows)-f.DelaysOmitted] {
		what := d.activities[x.activity]
		kind := accounts.Communication
		if what.computes() {
			kind = accounts.Computation
		}
		function, site := a.names.labels(kind, what)
		f.Delays = append(f.Delays, rootcauses.Delay{
			Rank: a.locations[x.location].Rank, Kind: kind, Function: function, CallSite: site,
			ShortTerm: x.short / 1e9, LongTerm: x.long / 1e9,
		})
	}
	return f
}
