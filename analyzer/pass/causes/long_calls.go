package causes

import (
	"math"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/series"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// longCalls is the calls of a call site if few of them take most of the time of all: the first
// ones, a single one, or some. A mean over all calls describes neither these nor the others.
type longCalls struct {
	form          verdict.Form
	ranks         []outliers.Worker // those with long calls
	callers       int               // ranks that call it
	instances, of int               // long calls and all: of a rank, but over all ranks if the form is Sometimes
	first         uint64            // number of the first long call of a rank
	each          float64           // mean of the long ones without waiting for other ranks, in ns
	usual         float64           // their median, likewise
	left          float64           // of the time of all calls, if the long ones took as long as usual
}

// longCallsOf returns the long calls of a call site, nil if its calls are alike, or too few or too
// many of them are long.
func longCallsOf(e *evidence, where accounts.Activity) *longCalls {
	l := &longCalls{}
	type caller struct {
		outliers.Worker
		*accounts.Tally
	}
	var callers []caller
	var medians []float64
	longest, own := 0.0, 0.0
	for _, w := range e.everyone() {
		if t := e.Each[e.MainOf[w.Row]].Tallies[where]; t != nil && t.Series.Count > 0 {
			callers = append(callers, caller{w, t})
			medians = append(medians, t.Spread.Quantile(0.5))
			longest, own = max(longest, 1e9*t.Series.Top[0].Seconds), own+float64(t.Own())
		}
	}
	if own == 0 {
		return nil
	}
	l.callers, l.usual = len(callers), series.Median(medians)
	limit := max(longer*l.usual, besideLongest(l.usual, longest))
	sum, firsts, single, most := 0.0, true, true, 0
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, c := range callers {
		n, ns := c.Spread.Above(limit)
		count := int(c.Series.Count)
		if l.of, most = l.of+count, max(most, count); n == 0 {
			continue
		}
		if float64(n) > max(1, maxRare*float64(count)) || count < minLong {
			return nil
		}
		if n <= len(c.Series.Top) { // exact
			ns = 0
			for _, one := range c.Series.Top[:n] {
				ns += 1e9 * one.Seconds
			}
		}
		l.ranks, l.instances, sum = append(l.ranks, c.Worker), l.instances+n, sum+ns
		low, high = min(low, c.Series.Top[0].Number), max(high, c.Series.Top[0].Number)
		firsts = firsts && c.Series.LastAbove(limit/1e9) == uint64(n)
		single = single && n == 1
	}
	lost := sum - float64(l.instances)*l.usual
	if l.instances == 0 || lost < nearlyAll*own {
		return nil
	}
	l.each = sum / float64(l.instances)
	l.left = max(0, 1-lost/own)
	switch {
	case firsts:
		l.form, l.first = verdict.WarmUp, 1
	case single && high-low <= 1: // calls that wait for each other may be one apart
		l.form, l.first = verdict.Once, low
	default:
		l.form = verdict.Sometimes
		return l
	}
	l.instances, l.of = l.instances/len(l.ranks), most
	return l
}

// causeOf returns the cause that few calls of a call site are long.
func (l *longCalls) causeOf(e *evidence, kind verdict.Kind, where accounts.Activity) verdict.Cause {
	var ranks []outliers.Worker
	if len(l.ranks) < l.callers && l.form != verdict.Sometimes {
		ranks = l.ranks
	}
	c := e.causeOf(kind, ranks, where)
	c.Form, c.First, c.Instances, c.Of = l.form, l.first, l.instances, l.of
	c.EachSeconds, c.OthersSeconds = l.each/1e9, new(l.usual/1e9)
	return c
}

// remains returns the call sites of a kind whose calls are long alike, each with the fraction of
// its own time that remains if no call takes longer than usual.
func (l *longCalls) remains(e *evidence, kind verdict.Kind) map[accounts.Activity]float64 {
	left := map[accounts.Activity]float64{}
	for what := range e.Total {
		if isAbout(e, kind, what) {
			if o := longCallsOf(e, what); o != nil && o.form == l.form {
				left[what] = o.left
			}
		}
	}
	return left
}
