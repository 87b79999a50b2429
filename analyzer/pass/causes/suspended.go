package causes

import (
	"fmt"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// suspendedRanks is ranks that were seen suspended, by a signal or a debugger, for half of the time
// for which the kernel counted that they were neither running nor ready to run.
type suspendedRanks struct{}

// suggest assumes that these ranks are never blocked, in calls or in computations, and that their
// partners need not wait for that inside calls.
func (suspendedRanks) suggest(e *evidence) []Hypothesis {
	if e.Window != nil {
		return nil // the whole run was looked at
	}
	var set []outliers.Worker
	for row, i := range e.MainOf {
		seen := &e.Ranks[row].Suspensions
		if i < 0 || seen.Suspended < fewestSeen {
			continue
		}
		lost, _ := stopped(e, row)
		times := float64(seen.Suspended) + math.Sqrt(float64(seen.Suspended)) // and its standard error
		if part := times / float64(seen.Looks); e.isWorthIt(lost) && part*float64(e.Run()) >= explains*float64(lost) {
			set = append(set, outliers.Worker{Row: row, Useful: accounts.Seconds(lost)})
		}
	}
	if set = atLeastHalf(set); len(set) == 0 {
		return nil
	}
	h := Hypothesis{width: allRegions, ofWaits: true, Cause: e.causeOf(verdict.Excess, set, accounts.Activity{})}
	h.Cause.Form, h.Cause.BlockedSeconds = verdict.BySignal, set[0].Useful
	for _, w := range set {
		seen := &e.Ranks[w.Row].Suspensions
		h.Cause.Looks, h.Cause.Suspended = h.Cause.Looks+uint64(seen.Looks), h.Cause.Suspended+uint64(seen.Suspended)
	}
	h.change = unstopped(e, outliers.RowsOf(set))
	h.What = fmt.Sprintf("nothing suspended %s", h.Cause.Who())
	h.Assumes = assumesUnstopped(&h.Cause)
	return []Hypothesis{h}
}

// exceptSuspended drops the hypotheses about ranks that are blocked if these were seen suspended.
func exceptSuspended(list []Hypothesis, suspended *verdict.Cause) []Hypothesis {
	ranks := suspended.List()
	return slices.DeleteFunc(list, func(h Hypothesis) bool {
		c := &h.Cause
		if c.Form == verdict.BySignal || c.BlockedSeconds == 0 || c.Kind != verdict.Excess && c.Kind != verdict.Imbalance {
			return false
		}
		blocked := c.List()
		if c.Spread != nil {
			blocked = []int{c.Spread.MaxRank}
		}
		return !slices.ContainsFunc(blocked, func(rank int) bool { return !slices.Contains(ranks, rank) })
	})
}
