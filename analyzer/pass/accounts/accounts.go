package accounts

import (
	"context"
	"fmt"
	"sort"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/pass/route"
	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/trace"
)

// Accounts are the accounts of all locations, with general data of the run.
type Accounts struct {
	Names      Names
	Meta       *trace.Meta
	Ranks      []trace.Rank // by row
	Locations  []timeline.Location
	Extents    []matching.Extent // by location
	MainOf     []int             // by row: location of the rank's main thread; −1: none
	Window     *timeline.Window  // the analyzed part of the run; nil: all of it
	Start, End int64             // bounds of the run
	Progressed int64             // when the last location made progress: End, unless the run hung
	Each       []Account         // by location
	Total      map[Activity]*Tally
	Machines   []*Machine // by row, if there is evidence
	Sums       bool       // only sums are known (timing aggregated): there is no path
	// completed is what the calls of each call site complete; nil if only sums are known.
	completed map[eventlog.CallSite]*matching.Completed
	OfLeads   bool // only lead ranks have measured times
}

// Segments is the approximate maximum number of path segments that are listed. Shorter ones are
// merged.
var Segments = pass.New("segments", func(context.Context, *pass.Run) (int, error) { return 1000, nil })

// Plan holds the phases of the run and, after the accounts are computed, how each rank passed
// through them.
var Plan = pass.New("phase plan", func(_ context.Context, r *pass.Run) (*phases.Plan, error) {
	plan, err := phases.NewPlan(r.Trace(), matching.Clock.Result(r).Clocks)
	if err != nil {
		return nil, fmt.Errorf("phases: %w", err)
	}
	return plan, nil
}, matching.Clock)

// Pass reads the calls of each location again, or their sums if only those are known.
var Pass = pass.New("accounts", func(ctx context.Context, r *pass.Run) (*Accounts, error) {
	f := matching.Pass.Result(r)
	if f == nil {
		return takeSums(r.Trace())
	}
	p := route.Pass.Result(r)
	a := newAccounts(r.Trace(), f.Locations, f.Extents)
	a.Start, a.End, a.completed = p.Start, p.End, f.Completed
	if f.Clock.Clocks != nil {
		a.Window = f.Clock.Clocks.Window
	}
	var err error
	if a.Each, err = takeAccounts(ctx, f, p, Plan.Result(r), Segments.Result(r)); err != nil {
		return nil, fmt.Errorf("accounting: %w", err)
	}
	a.addUp()
	a.Progressed = a.lastProgress()
	a.takeEvidence()
	return a, nil
}, matching.Pass, route.Pass, Plan, Segments)

func newAccounts(t timeline.Trace, locations []timeline.Location, extents []matching.Extent) *Accounts {
	a := &Accounts{
		Names: NewNames(t), Meta: t.Meta(), Ranks: t.Ranks().List(), Locations: locations, Extents: extents, Total: map[Activity]*Tally{},
		OfLeads: t.OfLeads(),
	}
	a.MainOf = make([]int, len(a.Ranks))
	for row := range a.MainOf {
		a.MainOf[row] = -1
	}
	return a
}

// addUp computes the totals of the accounts.
func (a *Accounts) addUp() {
	for i, l := range a.Locations {
		if l.Main == i {
			a.MainOf[l.Row] = i
		}
		for what, t := range a.Each[i].Tallies {
			if a.Total[what] == nil {
				a.Total[what] = new(Tally)
			}
			a.Total[what].add(t)
		}
	}
}

// Completed returns what the calls of a call site complete, nil if they complete nothing.
func (a *Accounts) Completed(call Activity) *matching.Completed {
	return a.completed[eventlog.CallSite{Function: call.Function, Site: call.Site}]
}

// KindOfCall returns the kind of cause that the cost of calls at a call site belongs to. A wait is
// of the kind that it waits for, and a fence that completes accesses to other ranks' memory is
// about messages.
func (a *Accounts) KindOfCall(call Activity) verdict.Kind {
	kind, done := a.Names.kindOfCall(call.Function), a.Completed(call)
	switch {
	case done == nil:
	case kind == verdict.Messages && done.AreCollectives():
		return verdict.Collectives
	case kind == verdict.Messages && done.AreFiles():
		return verdict.IO
	case kind == verdict.Collectives && done.AreMessages():
		return verdict.Messages
	}
	return kind
}

// lastProgress returns when the last location made progress: later each was in a call, or polled,
// for what never came, or made no more calls.
func (a *Accounts) lastProgress() int64 {
	last := a.Start
	for i := range a.Each {
		switch each := &a.Each[i]; {
		case a.Extents[i].Empty:
		case each.stands:
			last = max(last, each.stoodAt)
		default:
			last = max(last, a.Extents[i].End)
		}
	}
	return min(last, a.End)
}

// Seconds converts nanoseconds to seconds.
func Seconds(ns int64) float64 { return float64(ns) / 1e9 }

// Run returns the duration of the run in ns.
func (a *Accounts) Run() int64 { return a.End - a.Start }

// Share returns ns as a fraction of the run's duration.
func (a *Accounts) Share(ns int64) float64 {
	if a.Run() == 0 {
		return 0
	}
	return float64(ns) / float64(a.Run())
}

// Timed returns a time in seconds, nil if only sums are known.
func (a *Accounts) Timed(ns int64) *float64 {
	if a.Sums {
		return nil
	}
	return new(Seconds(ns))
}

// WaitingShare is the fraction of the run in which a rank's main thread waited for others; if only
// sums are known, the fraction it was inside MPI.
func (a *Accounts) WaitingShare(row int) float64 {
	i := a.MainOf[row]
	switch {
	case i < 0:
		return 0
	case a.Sums:
		return a.Share(a.Each[i].Mpi)
	}
	return a.Share(a.Each[i].Waited)
}

// Sorted returns the activities for which keep reports true, costliest first.
func (a *Accounts) Sorted(keep func(Activity) bool, cost func(*Tally) int64) []Activity {
	var list []Activity
	for what := range a.Total {
		if keep(what) {
			list = append(list, what)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		x, y := cost(a.Total[list[i]]), cost(a.Total[list[j]])
		return x > y || x == y && list[i].Less(list[j])
	})
	return list
}

// MaxRows bounds the tables by call site: programs have tens of call sites, generated ones may have
// thousands.
const MaxRows = 500
