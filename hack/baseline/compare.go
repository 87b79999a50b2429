package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"
)

// alpha is how improbable a difference has to be by chance alone: with a hundred values that did not change, one is
// taken for a change. The test needs five rounds of each tree to show that.
const alpha = 0.01

// A change is one value of both measurements.
type change struct {
	key
	before, after float64 // medians
	p             float64 // how probable such a difference is by chance (Mann-Whitney U test); 0 of exact values
	verdict       verdict
	warnings      []error // that there are too few values to say more
}

type verdict int

const (
	worse verdict = iota // in the order in which they are printed
	gone
	added
	better
	same
)

func (v verdict) String() string {
	return [...]string{"worse", "gone", "new", "better", "same"}[v]
}

// compare pairs what two measurements have of each benchmark and unit. Values of exact units differ if they are not
// equal. The others differ if the Mann-Whitney U test says so, which assumes nothing of how they are distributed.
func compare(before, after *measurement) []change {
	var changes []change
	for _, k := range before.order {
		old := benchmath.NewSample(slices.Clone(before.values[k]), &thresholds)
		if _, ok := after.values[k]; !ok {
			changes = append(changes, change{key: k, before: median(old), verdict: gone})
			continue
		}
		now := benchmath.NewSample(slices.Clone(after.values[k]), &thresholds)
		c := change{key: k, before: median(old), after: median(now), verdict: same}
		comparison := before.units.GetAssumption(k.unit).Compare(old, now)
		c.p = comparison.P
		if c.after != c.before {
			c.warnings = comparison.Warnings
		}
		if c.p < alpha && c.after != c.before {
			c.verdict = better
			if c.after > c.before != (before.units.GetBetter(k.unit) > 0) {
				c.verdict = worse
			}
		}
		changes = append(changes, c)
	}
	for _, k := range after.order {
		if _, ok := before.values[k]; !ok {
			now := benchmath.NewSample(slices.Clone(after.values[k]), &thresholds)
			changes = append(changes, change{key: k, after: median(now), verdict: added})
		}
	}
	return changes
}

var thresholds = benchmath.Thresholds{CompareAlpha: alpha}

func median(s *benchmath.Sample) float64 {
	return benchmath.AssumeNothing.Summary(s, 0.95).Center
}

// printChanges prints what is not the same, what got worse first and by how much first, then how many of each there are.
// It reports whether anything got worse.
func printChanges(to io.Writer, changes []change) bool {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), -cmp.Compare(a.ratio(), b.ratio()))
	})
	var count [same + 1]int
	var warnings []string
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, c := range changes {
		for _, w := range c.warnings {
			warnings = append(warnings, w.Error())
		}
		if count[c.verdict]++; c.verdict == same {
			continue
		}
		if sum := count[worse] + count[gone] + count[added] + count[better]; sum == 1 {
			fmt.Fprintln(table, "verdict\tbenchmark\tunit\tbefore\tafter\tchange\tp")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%.4g\t%.4g\t%+.1f%%\t%.3f\n",
			c.verdict, c.name, c.unit, c.before, c.after, 100*(c.ratio()-1), c.p)
	}
	table.Flush()
	slices.Sort(warnings)
	for _, w := range slices.Compact(warnings) {
		fmt.Fprintln(to, "warning:", w)
	}
	fmt.Fprintf(to, "%d worse, %d better, %d the same within noise (p ≥ %g), %d gone, %d new\n",
		count[worse], count[better], count[same], alpha, count[gone], count[added])
	return count[worse] > 0
}

// ratio is what there is now, of what there was.
func (c change) ratio() float64 {
	if c.before == 0 {
		return 1
	}
	return c.after / c.before
}
