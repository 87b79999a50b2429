package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/perf/benchmath"
)

var errWorse = errors.New("something got worse")

func newCompareCommand() *cobra.Command {
	return &cobra.Command{
		Use: "compare OLD NEW", Args: cobra.ExactArgs(2),
		Short: "Print what differs by more than chance between two results",
		RunE: func(_ *cobra.Command, args []string) error {
			var files [2]*results
			for i, path := range args {
				file, err := os.Open(path)
				if err != nil {
					return err
				}
				defer file.Close()
				if files[i], err = readResults(file, path); err != nil {
					return err
				}
			}
			changes := compare(files[0], files[1])
			if !slices.ContainsFunc(changes, func(c change) bool { return c.verdict != gone && c.verdict != added }) {
				return fmt.Errorf("%s and %s have no value in common", args[0], args[1])
			}
			if printChanges(os.Stdout, changes) {
				return errWorse
			}
			return nil
		},
	}
}

// results are the content of a file: all measurements of each value, in the file's order.
type results struct {
	order  []key
	values map[key][]float64
	about  map[key]value
}

type key struct{ of, row, value string }

func readResults(from io.Reader, name string) (*results, error) {
	r := &results{values: map[key][]float64{}, about: map[key]value{}}
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w: only files of out/bench can be compared", name, n, err)
		}
		k := key{l.Case, l.Row, l.Name}
		if _, seen := r.values[k]; !seen {
			r.order, r.about[k] = append(r.order, k), l.value
		}
		if strings.HasPrefix(l.Target, "within") { // a difference of either sign
			l.Amount = math.Abs(l.Amount)
		}
		r.values[k] = append(r.values[k], l.Amount)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(r.order) == 0 {
		return nil, fmt.Errorf("%s has no measurements: make some with make bench-NAME", name)
	}
	return r, nil
}

// alpha is the significance level: of a hundred values that did not change, one is reported as a
// change. The test needs five rounds of each tree to reach it.
const alpha = 0.01

// A change is a value in both measurements.
type change struct {
	key
	before, after float64 // medians
	p             float64 // probability of such a difference by chance; 0 for exact values
	verdict       outcome
	warnings      []error // for example too few values for the test
}

type outcome int

const (
	worse outcome = iota // in the order in which they are printed
	gone
	added
	better
	same
)

func (v outcome) String() string {
	return [...]string{"worse", "gone", "new", "better", "same"}[v]
}

// compare pairs the values of two files by case and row. Exact values differ if they are not equal.
// The others differ if the Mann-Whitney U test says so, which does not assume a distribution.
func compare(before, after *results) []change {
	var changes []change
	for _, k := range before.order {
		old := benchmath.NewSample(slices.Clone(before.values[k]), &thresholds)
		if _, ok := after.values[k]; !ok {
			changes = append(changes, change{key: k, before: center(old), verdict: gone})
			continue
		}
		now := benchmath.NewSample(slices.Clone(after.values[k]), &thresholds)
		c := change{key: k, before: center(old), after: center(now), verdict: same}
		assumption := benchmath.Assumption(benchmath.AssumeNothing)
		if before.about[k].Exact {
			assumption = benchmath.AssumeExact
		}
		comparison := assumption.Compare(old, now)
		c.p = comparison.P
		if c.after != c.before {
			c.warnings = comparison.Warnings
		}
		if c.p < alpha && c.after != c.before {
			c.verdict = better
			if c.after > c.before != before.about[k].Higher {
				c.verdict = worse
			}
		}
		changes = append(changes, c)
	}
	for _, k := range after.order {
		if _, ok := before.values[k]; !ok {
			now := benchmath.NewSample(slices.Clone(after.values[k]), &thresholds)
			changes = append(changes, change{key: k, after: center(now), verdict: added})
		}
	}
	return changes
}

var thresholds = benchmath.Thresholds{CompareAlpha: alpha}

func center(s *benchmath.Sample) float64 {
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
			fmt.Fprintln(table, "verdict\tcase\trow\tvalue\tbefore\tafter\tchange\tp")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.4g\t%.4g\t%+.1f%%\t%.3f\n",
			c.verdict, c.of, c.row, c.value, c.before, c.after, 100*(c.ratio()-1), c.p)
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
