package causes

import (
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/pass/owntime"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// haltedRanks is ranks that neither run nor are ready to run much longer than the others. If that
// is also in calls that poll, something stops them, wherever they are. Otherwise they are blocked
// in computations, whether they have more work, too, or not. It may not be known where: most
// computations are too short to be measured, but the whole run is.
type haltedRanks struct{}

// suggest assumes that these ranks are never blocked, in calls or in computations, and that their
// partners need not wait for that inside calls.
func (haltedRanks) suggest(e *evidence) []Hypothesis {
	all := lossesOf(e, func(row int) (lost, active int64) { return stopped(e, row) })
	set, _ := e.Outliers(all, outliers.Doubtful, longer)
	if set == nil || !e.AreFew(&outliers.Suspicion{Set: set}) {
		return nil
	}
	worst := set[0].Row
	lost, _ := stopped(e, worst)
	inCalls, _ := e.lacks.Stopped(worst)
	anywhere, _ := e.lacks.Anywhere(worst)
	if !e.isWorthIt(lost) {
		return nil
	}
	h := Hypothesis{width: allRegions, ofWaits: true}
	switch {
	case float64(anywhere) >= explains*float64(lost):
		h.Cause = e.causeOf(verdict.Excess, set, accounts.Activity{})
		h.Cause.Form, h.Cause.BlockedSeconds = verdict.Halted, accounts.Seconds(lost)
	case e.isWorthIt(inCalls):
		h.Cause = e.causeOf(verdict.Excess, set, mostStopped(e, worst))
		h.Cause.Form, h.Cause.BlockedSeconds = verdict.Halted, accounts.Seconds(lost)
	default:
		if h.Cause = blockedBesideWork(e, set, outliers.Except(all, set)); !e.isWorthIt(int64(1e9 * h.Cause.BlockedSeconds)) {
			return nil
		}
	}
	h.change = unstopped(e, outliers.RowsOf(set))
	h.What = fmt.Sprintf("nothing stopped %s", h.Cause.Who())
	h.Assumes = assumesUnstopped(&h.Cause)
	return []Hypothesis{h}
}

// assumesUnstopped describes unstopped.
func assumesUnstopped(c *verdict.Cause) string {
	return fmt.Sprintf("Computations and calls of %s take as long as without being stopped; waiting for other ranks follows.", c.Who())
}

// stopped returns for how long a rank neither ran nor was ready to run, in calls that poll and in
// computations without input and output, and the time of these, in ns.
func stopped(e *evidence, row int) (lost, active int64) {
	account := &e.Each[e.MainOf[row]]
	inCalls, own := e.lacks.Stopped(row)
	anywhere, _ := e.lacks.Anywhere(row)
	lost = inCalls + anywhere
	for _, o := range account.OffCPU {
		lost += blockedWithoutData(o)
	}
	return lost, own + account.Compute
}

// unstopped removes what blocks the ranks in some rows from their calls, and from computations: as
// measured, and what the counters of the whole run have beyond that.
func unstopped(e *evidence, rows map[int]bool) change {
	c := without(e, locationsOf(e, rows), nil, blockedWithoutData)
	c.keeps = keepsWithout(e, rows, func(l owntime.Lack) float64 { return l.Stopped })
	measured := c.takes
	c.takes = func(location int, r predict.Region, ns int64) int64 {
		left := measured(location, r, ns)
		if l := &e.Locations[location]; l.Main == location && rows[l.Row] {
			stopped, within := e.lacks.Anywhere(l.Row)
			unsampled := 1 - e.Each[location].Sampled(activityOf(r))
			left = max(0, left-int64(unsampled*float64(ns)*float64(stopped)/float64(max(1, within))))
		}
		return left
	}
	return c
}

// blockedBesideWork returns the cause that a set is blocked in computations longer than the others,
// most of all in the one that it names.
func blockedBesideWork(e *evidence, set, others []outliers.Worker) verdict.Cause {
	worst, account := set[0], &e.Each[e.MainOf[set[0].Row]]
	var where accounts.Activity
	most := 0.0
	for _, what := range account.Activities() {
		if o := account.OffCPU[what]; o != nil {
			if more := float64(blockedWithoutData(o)) - usually(e, others, what).blocked; more > most {
				where, most = what, more
			}
		}
	}
	c := e.causeOf(verdict.Excess, set, where)
	compareEach(e, &c, worst, others, where)
	c.Form, c.BlockedSeconds = verdict.Blocked, most/1e9
	setWait(e, &c, set[:1], others, most, 0)
	return c
}

// blockedWithoutData returns for how long a rank is blocked, unless it waits for files.
func blockedWithoutData(o *accounts.OffCPU) int64 {
	if o.MovesData() {
		return 0
	}
	return o.Blocked
}

// mostStopped returns the call site where a rank is stopped longest.
func mostStopped(e *evidence, row int) (where accounts.Activity) {
	most, account := 0.0, &e.Each[e.MainOf[row]]
	for _, call := range account.Activities() {
		if call.Computes() || !e.isBetween(call.Function, call.Site) {
			continue
		}
		p := e.lacks.Of(row, call)
		if ns := p.Own.Stopped * float64(account.Tallies[call].Own()); ns > most {
			where, most = call, ns
		}
	}
	return where
}
