package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"
)

// alpha is the significance level: of a hundred values that did not change, one is reported as a
// change. The test needs five rounds of each tree to reach it.
const alpha = 0.01

// A change is a value in both measurements.
type change struct {
	key
	before, after float64 // medians
	p             float64 // probability of such a difference by chance (Mann-Whitney U test); 0 for exact values
	verdict       verdict
	warnings      []error // for example too few values for the test
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

// compare pairs the values of two measurements by benchmark and unit. Values of exact units differ
// if they are not equal. The others differ if the Mann-Whitney U test says so, which does not
// assume a distribution.
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

// printChanges prints the differences, those for the worse first and larger ones before smaller
// ones, then a summary. It reports whether anything got worse.
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

// ratio is the new value relative to the old one.
func (c change) ratio() float64 {
	if c.before == 0 {
		return 1
	}
	return c.after / c.before
}
