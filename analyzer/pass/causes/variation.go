package causes

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/pass/causes/outliers"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/series"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// variation is regions that take longer at some times, on no rank in particular: at first, ever
// longer, once, or rarely and at different times on different ranks.
//
// Instances that are long on all ranks at the same time, again and again, are the program's own:
// every tenth iteration writes, every level of a multigrid method has its size. They are no cause.
type variation struct{}

func (variation) suggest(e *evidence) (list []Hypothesis) {
	if e.cpus.AreLimited() || e.shared && !e.HasEvidence() { // pauses have the same effect
		return nil
	}
	byForm := map[verdict.Form][]varying{}
	for _, what := range costly(e) {
		if v := varyingOf(e, what); v != nil {
			byForm[v.form] = append(byForm[v.form], *v)
		}
	}
	for _, v := range byForm[verdict.Once] { // in other regions it is another stop
		list = append(list, variationOf(e, []varying{v}))
	}
	for _, form := range []verdict.Form{verdict.WarmUp, verdict.Drift, verdict.Sometimes} {
		instances := 0
		for _, v := range byForm[form] {
			instances += v.instances
		}
		if len(byForm[form]) > 0 && (form != verdict.Sometimes || instances >= minLong && areByChance(byForm[form])) {
			list = append(list, variationOf(e, byForm[form]))
		}
	}
	return list
}

// A varying is a region whose instances take longer at some times.
type varying struct {
	what      accounts.Activity
	form      verdict.Form
	all       []timed // the ranks that execute it equally often
	long      []timed // of these, the ranks with long instances; those that lose most first
	limit     float64 // in ns, from which on an instance is long
	usual     float64 // ns
	lost      float64 // by long instances, over all ranks, in ns
	instances int     // long ones, over all ranks; for those at first and for a single one: of a rank
	first     uint64  // number of the first long instance
	each      float64 // mean of the long ones, in ns
}

// A timed is a rank's instances of a region.
type timed struct {
	outliers.Worker // Useful is what its long instances lose
	*accounts.Tally
	off   *accounts.OffCPU // of all instances, if they were measured; otherwise nil
	long  *accounts.OffCPU // of the long ones, likewise
	count int              // of long instances
	ns    float64          // of these
}

// costly returns the regions in which a rank spends enough time for a cause, costliest first.
func costly(e *evidence) []accounts.Activity {
	list := e.Sorted(accounts.Activity.Computes, func(t *accounts.Tally) int64 { return t.Ns })
	list = slices.DeleteFunc(list, func(what accounts.Activity) bool {
		return !slices.ContainsFunc(e.MainOf, func(i int) bool {
			return i >= 0 && e.Each[i].Tallies[what] != nil && e.isWorthIt(e.Each[i].Tallies[what].Ns)
		})
	})
	return list[:min(len(list), maxVarying)]
}

// varyingOf returns how a region varies over time, nil if it does not.
func varyingOf(e *evidence, what accounts.Activity) *varying {
	v := &varying{what: what, all: timedOf(e, what)}
	if len(v.all) == 0 {
		return nil
	}
	var medians, widths, longest []float64
	for _, r := range v.all {
		medians = append(medians, r.Spread.Quantile(0.5))
		widths = append(widths, r.Spread.Quantile(0.75)-r.Spread.Quantile(0.25))
		longest = append(longest, 1e9*r.Series.Top[0].Seconds)
	}
	v.usual = series.Median(medians)
	if v.drifts() {
		return v.measured(e)
	}
	v.limit = max(standsOut(v.usual, series.Median(widths)), besideLongest(v.usual, slices.Max(longest)))
	v.count(e)
	switch {
	case len(v.long) == 0:
		return nil
	case v.warmsUp():
		v.form = verdict.WarmUp
	case v.happensOnce():
		v.form = verdict.Once
	case v.isRare():
		v.form = verdict.Sometimes
	default:
		return nil
	}
	return v.measured(e)
}

// timedOf returns the ranks that repeat a region, and all equally often.
func timedOf(e *evidence, what accounts.Activity) (list []timed) {
	counts := map[uint64]int{}
	for _, w := range e.Workers(outliers.Spent, outliers.Only(what)) {
		if t := e.TallyOf(w, what); t.Count >= accounts.Repeated && t.Series.Count > 0 {
			r := timed{Worker: w, Tally: t}
			if _, known := e.Each[e.MainOf[w.Row]].Undelayed(what); known {
				r.off = e.Each[e.MainOf[w.Row]].OffCPU[what]
			}
			list = append(list, r)
			counts[t.Count]++
		}
	}
	usual := mostCommon(counts)
	return slices.DeleteFunc(list, func(r timed) bool { return r.Count != usual })
}

// count counts the long instances.
func (v *varying) count(e *evidence) {
	for _, r := range v.all {
		if r.count, r.ns = r.Spread.Above(v.limit); r.count > 0 {
			r.Useful = r.ns - float64(r.count)*v.usual
			r.long = e.LongOffCPU(r.Row, v.what, v.limit, r.count)
			v.lost += r.Useful
			v.instances += r.count
			v.each += r.ns
			v.long = append(v.long, r)
		}
	}
	v.each /= float64(max(1, v.instances))
	slices.SortStableFunc(v.long, func(x, y timed) int { return cmp.Compare(y.Useful, x.Useful) })
}

// measured returns v if the ranks were not just without a CPU in the time that they lost. Where
// that is not known, single instances count if they are longer than a time slice.
func (v *varying) measured(e *evidence) *varying {
	delayed := 0.0
	for _, r := range v.long {
		switch {
		case r.long != nil:
			delayed += float64(r.long.Delayed + r.long.Stolen)
		case r.off != nil:
			delayed += float64(r.off.Delayed + r.off.Stolen)
		case v.form == verdict.Sometimes || v.form == verdict.Once:
			if v.each-v.usual < timeSlice {
				return nil
			}
		}
	}
	if delayed >= explains*v.lost || e.Share(int64(v.lost)) < leastGainOf(verdict.Variation, v.form) {
		return nil
	}
	return v
}

// warmsUp reports whether the long instances are the first ones, on nearly all ranks.
func (v *varying) warmsUp() bool {
	all, last, n := v.all[0].Count, uint64(0), 0
	for _, r := range v.long {
		last = max(last, r.Series.LastAbove(v.limit/1e9))
	}
	for _, r := range v.long {
		n += r.count
	}
	rounded := max(1, v.all[0].Series.Per) - 1 // number of instances by which last may be too large
	if last == 0 || float64(last) > maxFirst*float64(all) || float64(len(v.long)) < nearlyAll*float64(len(v.all)) {
		return false
	}
	if float64(n) < nearlyAll*float64(max(1, last-min(last, rounded)))*float64(len(v.all)) {
		return false
	}
	v.instances, v.first = max(1, n/len(v.long)), 1
	return true
}

// happensOnce reports whether only a single instance is long: on one rank, or on several at once.
func (v *varying) happensOnce() bool {
	least, most := uint64(math.MaxUint64), uint64(0)
	for _, r := range v.long {
		if r.count > 1 {
			return false
		}
		least, most = min(least, r.Series.Top[0].Number), max(most, r.Series.Top[0].Number)
	}
	if most-least > 1 { // ranks that are stopped together may be an instance apart
		return false
	}
	v.first, v.instances = least, 1
	return true
}

// isRare reports whether few instances are long, at different times on different ranks, and on none
// of them more often than by chance.
func (v *varying) isRare() bool {
	all := float64(v.all[0].Count)
	if len(v.all) < 2 || float64(v.instances) > maxRare*all*float64(len(v.all)) || float64(v.instances) > explains*all {
		return false
	}
	if !areByChance([]varying{*v}) {
		return false
	}
	alone, known := 0, 0
	for _, r := range v.long {
		for _, one := range r.Series.Top {
			if 1e9*one.Seconds <= v.limit {
				break
			}
			others := 0
			for _, o := range v.all {
				if above, is := o.Series.IsAbove(one.Number, v.limit/1e9); above || !is {
					others++
				}
			}
			known++
			if float64(others-1) < explains*float64(len(v.all)-1) {
				alone++
			}
		}
	}
	return float64(alone) >= nearlyAll*float64(known)
}

// areByChance reports whether no rank has more of the long instances of some regions than chance
// explains.
func areByChance(regions []varying) bool {
	byRow, all, ranks := map[int]int{}, 0, 0
	for i := range regions {
		all, ranks = all+regions[i].instances, max(ranks, len(regions[i].all))
		for _, r := range regions[i].long {
			byRow[r.Row] += r.count
		}
	}
	for _, n := range byRow {
		if oftenByChance(n, all, ranks) < outliers.Significance {
			return false
		}
	}
	return true
}

// oftenByChance returns the probability that one of several ranks has at least n of all events, if
// each event hits any of them (Bonferroni's bound).
func oftenByChance(n, all, ranks int) float64 {
	hits := distuv.Binomial{N: float64(all), P: 1 / float64(ranks)}
	return float64(ranks) * (1 - hits.CDF(float64(n-1)))
}

// drifts reports whether the instances take ever longer, on most ranks.
func (v *varying) drifts() bool {
	var early, late []float64
	for _, r := range v.all {
		means := r.Series.Means()
		quarter := len(means) / 4
		if quarter < minQuarter {
			return false
		}
		first, last := 1e9*series.Median(means[:quarter]), 1e9*series.Median(means[len(means)-quarter:])
		if last >= longer*first && series.MannKendall(means) < conservedAlpha {
			early, late = append(early, first), append(late, last)
			v.long = append(v.long, r)
		}
	}
	if 2*len(v.long) <= len(v.all) {
		v.long = nil
		return false
	}
	v.form = verdict.Drift
	v.usual, v.each = series.Median(early), series.Median(late)
	v.limit = v.usual
	for i := range v.long {
		r := &v.long[i]
		n, ns := r.Spread.Above(v.limit)
		r.Useful = ns - float64(n)*v.usual
		v.lost += r.Useful
	}
	return true
}

// variationOf assumes that no instance of some regions that vary alike takes longer than usual.
func variationOf(e *evidence, regions []varying) Hypothesis {
	slices.SortStableFunc(regions, func(x, y varying) int { return cmp.Compare(y.lost, x.lost) })
	v := &regions[0]
	// ranks are named if the region is only theirs, or the single stop
	var set []outliers.Worker
	who := v.all
	if v.form == verdict.Once {
		who = v.long
	}
	if len(who) < len(e.everyone()) && v.form != verdict.Sometimes {
		for _, r := range who {
			set = append(set, r.Worker)
		}
	}
	h := Hypothesis{width: someInstances, Cause: e.causeOf(verdict.Variation, set, v.what)}
	c := &h.Cause
	c.Form, c.Of, c.Instances, c.First = v.form, int(v.all[0].Count), v.instances, v.first
	c.EachSeconds, c.OthersSeconds = v.each/1e9, new(v.usual/1e9)
	if len(regions) > 1 {
		c.Regions = len(regions)
	}
	if v.form == verdict.Sometimes {
		c.Instances, c.Of, c.EachSeconds = 0, 0, 0
		for _, r := range regions {
			c.Instances, c.Of = c.Instances+r.instances, c.Of+int(r.all[0].Count)*len(r.all)
			c.EachSeconds += r.each * float64(r.instances) / 1e9
		}
		c.EachSeconds /= float64(c.Instances)
		c.LongRanks = e.Listed(longOf(regions))
	}
	setKernel(c, v)
	if c.BlockedSeconds == 0 {
		for _, r := range v.long {
			c.Bytes = max(c.Bytes, movedIn(e, r.Row, v.what, v.limit, v.each-v.usual))
		}
	}
	cuts := make([]map[predict.Region]cut, len(e.Each))
	for _, v := range regions {
		for _, r := range v.all {
			i := e.MainOf[r.Row]
			if cuts[i] == nil {
				cuts[i] = map[predict.Region]cut{}
			}
			cuts[i][regionOf(v.what)] = cut{factor: 1, limit: v.limit, usual: v.usual}
		}
	}
	h.change = shortened(cuts)
	than := "usual"
	if v.form == verdict.Drift {
		than = "at first"
	}
	h.What = fmt.Sprintf("%s took no longer than %s %s", c.Who(), than, verdict.Between(c.After, c.Before))
	if n := len(regions) - 1; n > 0 {
		h.What += " and in " + wording.Count(n, "other region", "other regions")
	}
	h.Assumes = "Each of these computations takes as long as it usually does; calls keep their own cost, waiting follows."
	return h
}

// longOf returns the ranks with long instances of some regions.
func longOf(regions []varying) (list []outliers.Worker) {
	seen := map[int]bool{}
	for _, v := range regions {
		for _, r := range v.long {
			if !seen[r.Row] {
				seen[r.Row] = true
				list = append(list, r.Worker)
			}
		}
	}
	return list
}

// setKernel sets what the kernel did in the time that long instances lose: blocked the ranks, or
// worked for them. Seconds and counts are per long instance.
func setKernel(c *verdict.Cause, v *varying) {
	blocked, system, faults, bytes := 0.0, 0.0, 0.0, 0.0
	for _, r := range v.long {
		if r.long == nil {
			return
		}
		blocked += float64(r.long.Blocked)
		if r.long.MovesData() {
			bytes += float64(r.long.Bytes)
		}
		if ns, known := r.long.System(); known {
			system += float64(ns)
		}
		faults += float64(max(0, r.long.MinorFaults) + max(0, r.long.MajorFaults))
	}
	n := 0.0
	for _, r := range v.long {
		n += float64(r.count)
	}
	switch {
	case blocked >= explains*v.lost:
		c.BlockedSeconds, c.Bytes = min(blocked, v.lost)/n/1e9, bytes/n
	case system >= explains*v.lost:
		c.SystemSeconds = system / n / 1e9
	}
	if faults*pageFault >= mentioned*v.lost {
		c.PageFaults = faults / n
	}
}
