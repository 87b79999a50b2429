package rootcauses

import (
	"context"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/delays"
)

// Analysis attributes all waiting to its root causes.
var Analysis = analysis.New("rootcauses", analysis.About{Title: "root causes of waiting", Version: 1}, find, accounts.Pass, delays.Pass)

func find(_ context.Context, r *pass.Run) (Findings, error) {
	d := delays.Pass.Result(r)
	if d == nil {
		return Findings{}, nil
	}
	return Findings{RootCauses: rootCausesOf(accounts.Pass.Result(r), d), Notes: d.Notes()}, nil
}

// rootCausesOf returns the findings for the costs of delays.
func rootCausesOf(a *accounts.Accounts, d *delays.Delays) *RootCauses {
	f := &RootCauses{
		WaitingSeconds: accounts.Seconds(d.All), DirectSeconds: d.Direct / 1e9, IndirectSeconds: d.Indirect / 1e9, Delays: []Delay{},
	}
	f.UnexplainedSeconds = max(0, f.WaitingSeconds-f.DirectSeconds-f.IndirectSeconds)
	rows := d.Costliest()
	f.DelaysOmitted = max(0, len(rows)-accounts.MaxRows)
	for _, x := range rows[:len(rows)-f.DelaysOmitted] {
		what := d.Activities[x.Activity]
		kind := accounts.Communication
		if what.Computes() {
			kind = accounts.Computation
		}
		function, site := a.Names.Labels(kind, what)
		f.Delays = append(f.Delays, Delay{
			Rank: a.Locations[x.Location].Rank, Kind: kind, Function: function, CallSite: site,
			ShortTerm: x.Short / 1e9, LongTerm: x.Long / 1e9,
		})
	}
	return f
}
