package criticalpath

import (
	"context"
	"fmt"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
)

// allAccounts are how all locations spent their time, and the run that they are of.
type allAccounts struct {
	names      names
	meta       *trace.Meta
	ranks      []trace.Rank // by row
	locations  []timeline.Location
	extents    []extent         // by location
	mainOf     []int            // by row: location of the rank's first thread; −1: none
	window     *timeline.Window // only this part is looked at; nil: all
	start, end int64            // of the run
	each       []account        // by location
	total      map[activity]*tally
	machines   []*machine // by row, where there is evidence
	// delayedCalls is for how long ranks waited for a CPU in long calls: while they waited for others, too.
	delayedCalls map[activity]offCPU
	sums         bool // only sums are known (timing aggregated): there is no path
	ofLeads      bool // only lead ranks have times of their own
}

// segmentsPass is about how many segments of the path are listed, at most: shorter ones are put together.
var segmentsPass = pass.New("segments", func(context.Context, *pass.Run) (int, error) { return 1000, nil })

// planPass are the phases of the run, and once the accounts are taken how each rank passed them.
var planPass = pass.New("phase plan", func(ctx context.Context, r *pass.Run) (*phases.Plan, error) {
	m, err := clockPass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	plan, err := phases.NewPlan(r.Trace(), m.Clocks)
	if err != nil {
		return nil, fmt.Errorf("phases: %w", err)
	}
	return plan, nil
}, clockPass)

// accountsPass goes through the calls of each location again, or its sums where those are all there is.
var accountsPass = pass.New("accounts", func(ctx context.Context, r *pass.Run) (*allAccounts, error) {
	f, err := matchingPass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return takeSums(r.Trace())
	}
	p, err := routePass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	plan, err := planPass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	segments, err := segmentsPass.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	a := newAccounts(r.Trace(), f.locations, f.extents)
	a.start, a.end = p.start, p.end
	if f.clock.Clocks != nil {
		a.window = f.clock.Clocks.Window
	}
	if a.each, err = takeAccounts(ctx, f, p, plan, segments); err != nil {
		return nil, fmt.Errorf("accounting: %w", err)
	}
	a.addUp()
	a.takeEvidence()
	return a, nil
}, matchingPass, routePass, planPass, segmentsPass)

func newAccounts(t timeline.Trace, locations []timeline.Location, extents []extent) *allAccounts {
	a := &allAccounts{
		names: newNames(t), meta: t.Meta(), ranks: t.Ranks().List(), locations: locations, extents: extents, total: map[activity]*tally{},
		ofLeads: t.OfLeads(),
	}
	a.mainOf = make([]int, len(a.ranks))
	for row := range a.mainOf {
		a.mainOf[row] = -1
	}
	return a
}

// addUp makes totals of the accounts.
func (a *allAccounts) addUp() {
	for i, l := range a.locations {
		if l.Main == i {
			a.mainOf[l.Row] = i
		}
		for what, t := range a.each[i].tallies {
			if a.total[what] == nil {
				a.total[what] = new(tally)
			}
			a.total[what].add(t)
		}
	}
}

// inSeconds are nanoseconds in seconds.
func inSeconds(ns int64) float64 { return float64(ns) / 1e9 }

// run is how long the run took, in ns.
func (a *allAccounts) run() int64 { return a.end - a.start }

// share is a part of the run's length.
func (a *allAccounts) share(ns int64) float64 {
	if a.run() == 0 {
		return 0
	}
	return float64(ns) / float64(a.run())
}

// timed is a time that is not known where there are sums only.
func (a *allAccounts) timed(ns int64) *float64 {
	if a.sums {
		return nil
	}
	return new(inSeconds(ns))
}

// waitingShare is the part of the run for which a rank's main thread waited for others; of sums, what it was in MPI.
func (a *allAccounts) waitingShare(row int) float64 {
	i := a.mainOf[row]
	switch {
	case i < 0:
		return 0
	case a.sums:
		return a.share(a.each[i].mpi)
	}
	return a.share(a.each[i].waited)
}

// sorted gives the activities of which keep is true, costliest first.
func (a *allAccounts) sorted(keep func(activity) bool, cost func(*tally) int64) []activity {
	var list []activity
	for what := range a.total {
		if keep(what) {
			list = append(list, what)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		x, y := cost(a.total[list[i]]), cost(a.total[list[j]])
		return x > y || x == y && list[i].less(list[j])
	})
	return list
}

// maxRows bounds tables of places: programs have tens of call sites, generated ones may have thousands.
const maxRows = 500
