package criticalpath

import (
	"context"
	"fmt"
	"sort"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/phases"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/stopped"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// analysis is what Analyze works on after the passes.
type analysis struct {
	names  names
	meta   *trace.Meta
	ranks  []trace.Rank
	mainOf []int // location of a rank's first thread, by row; −1: none
	// delayedCalls is for how long ranks waited for a CPU in long calls: while they waited for others, too.
	delayedCalls map[activity]offCPU
	forward      *forward
	path         route
	accounts     []account
	total        map[activity]*tally
	slack        []int64 // by row
	window       *timeline.Window
	profile      profile.Findings
	stopped      *stopped.Findings
	cpus         *CPUs
	machines     []*machine // of each rank, where there is evidence
	shared       bool       // ranks had to wait for a CPU so often that how long a computation took says little of it
	scatterGain  float64    // of the run, that equal work each time saves
	solo         *aloneness // what ranks compute alone; nil: nobody has asked yet
	roleKeys     []string   // of the ranks, by row; nil: nobody has asked yet
	// sums: only those are known (timing aggregated); forward has no more than locations and extents, and there is no path.
	sums bool
	// ofLeads: only lead ranks have times of their own.
	ofLeads bool
}

// Analyze finds the critical path of a trace.
func Analyze(ctx context.Context, t timeline.Trace, o Options) (Findings, error) {
	if t.Meta().Timing.Mode == timing.Aggregated {
		return sums(ctx, t, o)
	}
	a := &analysis{names: newNames(t), meta: t.Meta(), ranks: t.Ranks().List(), total: map[activity]*tally{}, ofLeads: t.OfLeads()}
	var err error
	if a.forward, o.Clock, err = runForward(ctx, t, o.Clock); err != nil {
		return Findings{}, err
	}
	defer a.forward.journal.Close()
	clocks, found := o.Clock.Clocks, o.Clock.Findings
	if clocks != nil {
		a.window = clocks.Window
	}
	if a.window == nil {
		if a.stopped, err = stopped.Find(ctx, t, clocks); err != nil {
			return Findings{}, fmt.Errorf("how the run ended: %w", err)
		}
	}
	// the root causes need nothing else of what follows, nor that of them
	delays := newDelays(a.forward)
	caller := ctx
	ctx, cancel := context.WithCancel(ctx)
	following, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		_ = following.Wait() // it reads the journal; what it says was asked before, or does not matter any more
	}()
	following.Go(func() error { return delays.follow(ctx) })
	a.path = walk(a.forward)
	plan, err := phases.NewPlan(t, clocks)
	if err != nil {
		return Findings{}, fmt.Errorf("phases: %w", err)
	}
	if a.accounts, err = takeAccounts(ctx, a.forward, &a.path, plan, o); err != nil {
		return Findings{}, fmt.Errorf("accounting: %w", err)
	}
	a.mainOf = make([]int, len(a.ranks))
	for row := range a.mainOf {
		a.mainOf[row] = -1
	}
	for i, l := range a.forward.locations {
		if l.Main == i {
			a.mainOf[l.Row] = i
		}
		for what, t := range a.accounts[i].tallies {
			if a.total[what] == nil {
				a.total[what] = new(tally)
			}
			a.total[what].add(t)
		}
	}
	a.takeEvidence()
	a.slack = a.slackOf()
	found.Violations = a.forward.violations.Count
	found.WithinRounding = a.forward.violations.Rounded
	found.WorstSeconds = a.seconds(a.forward.violations.Worst)
	f := Findings{
		SchemaVersion: SchemaVersion,
		RunSeconds:    a.seconds(a.path.end - a.path.start),
		RunStartNS:    a.path.start,
		Efficiency:    a.efficiency(a.seconds(a.run())),
		Ranks:         a.rankTimes(),
		Functions:     a.functionTimes(),
		CallSites:     a.siteTimes(),
		Computation:   a.regionTimes(),
		WaitStates:    a.waitTimes(),
		Waits:         new(a.waitBreakdown()),
		Strips:        new(a.strips()),
		Clock:         found,
		Timing:        timingError(a.meta, a.forward.moments),
		Notes:         a.notes(),
	}
	marks := make(predict.Marks, len(a.forward.locations))
	for i := range marks {
		marks[i] = plan.Marks(i)
	}
	if a.profile, err = a.forward.profile.Findings(); err != nil {
		return Findings{}, fmt.Errorf("profile: %w", err)
	}
	if a.window == nil { // it is counted over all of the run
		a.cpus = cpusOf(a.ranks, a.waitingShare)
		a.shared = a.cpus.areShared()
	}
	played, causes, hypotheses, err := a.judge(ctx, marks, o.Also)
	if err != nil {
		return Findings{}, fmt.Errorf("replay: %w", err)
	}
	f.WhatIf, f.CPUs, f.Profile = a.whatIfs(&played, hypotheses), a.cpus, &a.profile
	for i := range played.marks {
		plan.Ideal(i, played.marks[i])
	}
	if err := following.Wait(); err != nil {
		return Findings{}, fmt.Errorf("root causes: %w", err)
	}
	rootCauses, byRank := a.rootCauses(delays)
	f.RootCauses = &rootCauses
	f.Notes = append(f.Notes, delays.notes()...)
	for row := range f.Ranks {
		f.Ranks[row].DelayCost = &byRank[row]
	}
	f.Efficiency.divide(a.seconds(played.ideal), f.RunSeconds)
	inPhases := plan.Findings(a.waitsOf, a.stretchesOf)
	if o.Share != nil {
		o.Share(Shared{o.Clock, plan, played.also})
	}
	f.Phases = &inPhases
	nameThePhases(causes, &inPhases)
	f.Verdict = a.decide(f.Efficiency, causes, hypotheses)
	named, err := trace.ParseRankList(f.Verdict.Ranks)
	if err != nil {
		return Findings{}, fmt.Errorf("ranks of the verdict: %w", err)
	}
	f.Ledger = a.ledger(delays, &f.Verdict, named.Ranks())
	if err := a.closer(caller, &f); err != nil {
		return Findings{}, fmt.Errorf("detail: %w", err)
	}
	f.tellStop(a.stopped, t)
	if w := a.window; w != nil {
		f.Window = &Window{a.seconds(w.From - w.Start), a.seconds(w.To - w.Start)}
		f.Verdict.Text = fmt.Sprintf("Between %.6g s and %.6g s of the run: %s", f.Window.From, f.Window.To, f.Verdict.Text)
	}
	f.Path = new(a.pathFindings(o))
	f.Path.ByPhase = a.byPhase(&inPhases)
	return f, a.forward.journal.Spool.Err()
}

// waitsOf lists the wait states of a location, in order.
func (a *analysis) waitsOf(location int, yield func(begin, end int64)) {
	waits := forwardWaits{log: &a.forward.waits[location]}
	for w := waits.peek(); w != nil; w = waits.peek() {
		yield(w.begin, w.end)
		waits.next++
	}
}

func (a *analysis) seconds(ns int64) float64 { return float64(ns) / 1e9 }

func (a *analysis) run() int64 { return a.path.end - a.path.start }

// share is a part of the run's length.
func (a *analysis) share(ns int64) float64 {
	if a.run() == 0 {
		return 0
	}
	return float64(ns) / float64(a.run())
}

// efficiency is what computation alone says of a run of so many seconds.
func (a *analysis) efficiency(run float64) Efficiency {
	mean, most, n := 0.0, 0.0, 0.0
	for row := range a.ranks {
		if i := a.mainOf[row]; i >= 0 && !a.forward.extents[i].empty {
			useful := a.seconds(a.accounts[i].compute)
			mean += useful
			most = max(most, useful)
			n++
		}
	}
	if n == 0 {
		return Efficiency{}
	}
	mean /= n
	return Efficiency{
		MeanUseful: &mean, MaxUseful: &most,
		LoadBalance: quotient(mean, most), Communication: quotient(most, run), Parallel: quotient(mean, run),
	}
}

// divide splits the communication efficiency by the run's length on an ideal network.
func (e *Efficiency) divide(ideal, run float64) {
	if ideal <= 0 || run <= 0 || e.MaxUseful == nil {
		return
	}
	e.IdealSeconds = &ideal
	e.Serialization, e.Transfer = quotient(*e.MaxUseful, ideal), quotient(ideal, run)
}

// quotient is nil where there is nothing to divide by.
func quotient(part, whole float64) *float64 {
	if whole <= 0 {
		return nil
	}
	return new(part / whole)
}

// timed is a time that is not known where there are sums only.
func (a *analysis) timed(ns int64) *float64 {
	if a.sums {
		return nil
	}
	return new(a.seconds(ns))
}

// waitingShare is the part of the run for which a rank's main thread waited for others; of sums, what it was in MPI.
func (a *analysis) waitingShare(row int) float64 {
	i := a.mainOf[row]
	switch {
	case i < 0:
		return 0
	case a.sums:
		return a.share(a.accounts[i].mpi)
	}
	return a.share(a.accounts[i].waited)
}

func (a *analysis) rankTimes() []RankTime {
	times := make([]RankTime, len(a.ranks))
	for row, r := range a.ranks {
		times[row] = RankTime{Rank: r.Rank, Pod: r.Pod, Node: r.Node, Host: r.Host, EndedEarly: r.EndedEarly}
		if !a.sums {
			path := a.onPath(row)
			times[row].Path, times[row].PathShare = new(a.seconds(path)), new(a.share(path))
			times[row].Slack = new(a.seconds(max(0, a.slack[row])))
			times[row].Waiting, times[row].CausedWaiting = new(0.0), new(0.0)
		}
		if i := a.mainOf[row]; i >= 0 {
			times[row].Initialization, times[row].Finalization = a.seconds(a.accounts[i].initialize), a.seconds(a.accounts[i].finalize)
		}
	}
	for i, l := range a.forward.locations {
		t, account := &times[l.Row], &a.accounts[i]
		t.Calls += account.calls
		if !a.sums {
			*t.CausedWaiting += a.seconds(a.forward.caused[i])
		}
		if i == l.Main {
			t.Computation, t.MPI, t.Waiting = a.seconds(account.compute), a.seconds(account.mpi), a.timed(account.waited)
		}
	}
	return times
}

func (a *analysis) functionTimes() []FunctionTime {
	byName := map[string]*FunctionTime{}
	for _, what := range a.sorted(func(activity) bool { return true }, func(t *tally) int64 { return t.ns }) {
		t, name := a.total[what], string(Computation)
		if !what.computes() {
			name = a.names.function(what.function)
		}
		f := byName[name]
		if f == nil {
			f = &FunctionTime{Function: name, Waiting: a.timed(0), Path: a.timed(0)}
			byName[name] = f
		}
		f.Calls += t.count
		f.Seconds += a.seconds(t.ns)
		if !a.sums {
			*f.Waiting += a.seconds(t.waited)
			*f.Path += a.seconds(t.path)
		}
	}
	list := make([]FunctionTime, 0, len(byName))
	for _, f := range byName {
		list = append(list, *f)
	}
	sort.Slice(list, func(i, j int) bool {
		return list[i].Seconds > list[j].Seconds || list[i].Seconds == list[j].Seconds && list[i].Function < list[j].Function
	})
	return list
}

// sorted gives the activities of which keep is true, costliest first.
func (a *analysis) sorted(keep func(activity) bool, cost func(*tally) int64) []activity {
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

func (a *analysis) siteTimes() []SiteTime {
	list := []SiteTime{}
	for _, what := range a.sorted(func(w activity) bool { return !w.computes() }, func(t *tally) int64 { return t.ns }) {
		if len(list) == maxRows {
			break
		}
		t := a.total[what]
		list = append(list, SiteTime{
			Function: a.names.function(what.function), CallSite: a.names.site(what.site), Calls: t.count,
			Seconds: a.seconds(t.ns), Waiting: a.timed(t.waited), Path: a.timed(t.path),
		})
	}
	return list
}

func (a *analysis) regionTimes() []RegionTime {
	list := []RegionTime{}
	n := 0
	for row := range a.ranks {
		if i := a.mainOf[row]; i >= 0 && !a.forward.extents[i].empty {
			n++
		}
	}
	for _, what := range a.sorted(activity.computes, func(t *tally) int64 { return t.ns }) {
		if len(list) == maxRows {
			break
		}
		t := a.total[what]
		r := RegionTime{
			Before: a.names.place(what.next, what.nextSite),
			Count:  t.count, Seconds: a.seconds(t.ns), MeanSeconds: a.seconds(t.ns) / float64(max(1, n)), Path: a.timed(t.path),
		}
		if !a.sums {
			r.After = new(a.names.place(what.function, what.site))
			r.Imbalance = new(max(0, *r.Path-r.MeanSeconds))
		}
		for row := range a.ranks {
			if i := a.mainOf[row]; i >= 0 {
				if own := a.accounts[i].tallies[what]; own != nil && a.seconds(own.ns) > r.MaxSeconds {
					r.MaxSeconds, r.MaxRank = a.seconds(own.ns), a.ranks[row].Rank
				}
			}
		}
		list = append(list, r)
	}
	return list
}
