package compare

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// much is the share of the difference from which on a part is said to be most of it.
const much = 0.5

// unknown is what one run per side cannot show.
const unknown = " How far apart two equal runs are on this machine cannot be known from one run a side: give several, cairn compare A1 A2 A3 -- B1 B2 B3."

// sentence describes the difference, its main part, the ranks that changed, and how certain it is.
func (f *Findings) sentence() string {
	if f.DifferentPrograms {
		return fmt.Sprintf("A and B are runs of different programs: %s and %s spend %.0f%% and %.0f%% of their time at call sites that both have. A took %s, B %s; nothing else is compared.",
			f.A.Executable, f.B.Executable, f.A.Common, f.B.Common, wording.Duration(f.A.Seconds), wording.Duration(f.B.Seconds))
	}
	text := f.runTimes()
	several := f.PValue != nil
	main, before := f.mainChange(), ""
	if several && *f.PValue < runAlpha/2 || !several && math.Abs(f.Difference) > f.rounding {
		if before = f.moreIterations(); before == "" && (main == nil || main.Seconds*sign(f.Difference) < much*math.Abs(f.Difference)) {
			// otherwise others wait for that rank, and their waiting would be the main part
			before = f.largestParts()
		}
	}
	text += before
	switch {
	case f.Tests == 0:
		text += " The runs have no loop in common with enough iterations to compare single ranks."
	case main != nil:
		text += f.rankSentence(main)
	case len(f.Changes) > 0:
		c := f.Changes[0]
		text += fmt.Sprintf(" No rank's computation changed; time in MPI did, most on rank %d in %s: %+.1f%% per iteration.", c.Rank, c.Phase, c.Percent)
	case several:
		text += " No rank's iterations changed by more than those of equal runs, neither in computation nor in MPI."
	case f.rounding > 0:
		text += " No rank's iterations changed by more than they scatter within the runs and their times are rounded, neither in computation nor in MPI."
	default:
		text += " No rank's iterations changed by more than they scatter within the runs, neither in computation nor in MPI."
	}
	if several && *f.PValue < runAlpha/2 || !several && math.Abs(f.Difference) > f.rounding {
		text += f.verdicts()
	}
	if several {
		return text + f.precision()
	}
	if len(f.Changes) > 0 {
		text += " Iterations that changed did so by more than they scatter within the runs."
	}
	return text + unknown
}

// runTimes compares the run times.
func (f *Findings) runTimes() string {
	took, mean := "B took", ""
	if f.PValue != nil {
		took, mean = "B took on average", fmt.Sprintf("; %d and %d runs", f.A.Runs, f.B.Runs)
	}
	text := fmt.Sprintf("%s as long as A (%s%s)", took, wording.Duration(f.A.Seconds), mean)
	if math.Abs(f.Difference) >= tick {
		how := "longer"
		if f.Difference < 0 {
			how = "less long"
		}
		text = fmt.Sprintf("%s %s %s than A (%s, %s%s)", took, wording.Duration(math.Abs(f.Difference)), how, wording.Duration(f.A.Seconds), wording.Duration(f.B.Seconds), mean)
	}
	switch {
	case f.PValue == nil && 0 < math.Abs(f.Difference) && math.Abs(f.Difference) <= f.rounding:
		return text + ", no more than their rounded times may be wrong."
	case f.PValue == nil:
		return text + "."
	case *f.PValue < runAlpha/2:
		return fmt.Sprintf("%s: more than equal runs differ (%s).", text, chance(*f.PValue))
	}
	return fmt.Sprintf("%s: no more than equal runs differ (%s; A took %s, B %s).", text, chance(*f.PValue), f.A.between(), f.B.between())
}

// chance describes a p-value.
func chance(p float64) string {
	if p < 1e-9 {
		return "p < 1e-9"
	}
	return fmt.Sprintf("p = %.2g", p)
}

// between describes the shortest and the longest run time.
func (s *Side) between() string {
	return fmt.Sprintf("%s to %s", wording.Duration(s.Shortest), wording.Duration(s.Longest))
}

// precision describes what this number of runs can show.
func (f *Findings) precision() string {
	if f.Detectable == nil {
		return ""
	}
	return fmt.Sprintf(" %d and %d runs as far apart as these show differences of the run time from %.2g%% on; more runs show smaller ones.", f.A.Runs, f.B.Runs, *f.Detectable)
}

// mainChange returns the largest change of a rank's computation in the direction of the difference,
// else the largest slowdown; nil if there is none.
func (f *Findings) mainChange() *Change {
	var along, slower *Change
	for i := range f.Changes {
		c := &f.Changes[i]
		if c.What != "computation" {
			continue
		}
		if c.Seconds*sign(f.Difference) > 0 && (along == nil || math.Abs(c.Seconds) > math.Abs(along.Seconds)) {
			along = c
		}
		if slower == nil || c.Seconds > slower.Seconds {
			slower = c
		}
	}
	if along != nil {
		return along
	}
	return slower
}

// rankSentence names the rank of the main change, or the node if all its ranks and no others
// changed in the same way, and counts the others.
func (f *Findings) rankSentence(main *Change) string {
	slower, faster := map[int]bool{}, map[int]bool{} // ranks; one may be in several phases
	for _, c := range f.Changes {
		switch {
		case c.What != "computation":
		case c.Shift > 0:
			slower[c.Rank] = true
		default:
			faster[c.Rank] = true
		}
	}
	how, alike, became, opposite, otherWay := "longer", slower, "slower", faster, "faster"
	if main.Shift < 0 {
		how, alike, became, opposite, otherWay = "less long", faster, "faster", slower, "slower"
	}
	than := ""
	if main.Relative {
		than = ", compared with the other ranks of its run,"
	}
	text := fmt.Sprintf(" Rank %d computes %.1f%% %s%s in an iteration of %s: %s in all%s.", main.Rank, math.Abs(main.Percent), how, than, main.Phase, wording.Duration(math.Abs(main.Seconds)), f.whereIn(main))
	if node := f.nodeOf(alike); node != "" {
		text += fmt.Sprintf(" All %d ranks of node %s became %s, no others did.", len(alike), node, became)
	} else if len(alike) > 1 {
		text += fmt.Sprintf(" %s became %s too.", wording.Count(len(alike)-1, "other", "others"), became)
	}
	if len(opposite) > 0 {
		text += fmt.Sprintf(" %s became %s.", wording.Count(len(opposite), "rank", "ranks"), otherWay)
	}
	return text
}

// whereIn returns where most of a change of computation is, if that is in one place.
func (f *Findings) whereIn(c *Change) string {
	for i := range f.Activities {
		p := &f.Activities[i]
		if p.What == c.What && p.Rank == c.Rank && p.RankDifference/c.Seconds >= much {
			return ", most of it before " + callsite.At(p.Function, p.CallSite)
		}
	}
	return ""
}

// nodeOf returns the node whose ranks these are, exactly and all of them, if there are several
// nodes with several ranks; "" if there is none.
func (f *Findings) nodeOf(ranks map[int]bool) string {
	node := ""
	for rank := range ranks {
		node = f.nodes[rank]
	}
	n := 0
	for rank, at := range f.nodes {
		if at == node {
			n++
		}
		if ranks[rank] != (at == node) {
			return ""
		}
	}
	if n < 2 || n == len(f.nodes) {
		return ""
	}
	return node
}

// moreIterations names the loop whose number of iterations explains most of the difference, "" if
// there is none.
func (f *Findings) moreIterations() string {
	for _, p := range f.Phases {
		if p.AIterations == 0 || p.BIterations == 0 || math.Abs(p.AIterations-p.BIterations) < 0.5 {
			continue
		}
		added := (p.BIterations - p.AIterations) * p.A / p.AIterations
		if share := added / f.Difference; share < much || share > 1/much || (p.B-p.A)/f.Difference < much {
			continue
		}
		return fmt.Sprintf(" Most of that: %s has %.0f iterations instead of %.0f.", p.Name, p.BIterations, p.AIterations)
	}
	return ""
}

// largestParts names the parts of the critical path that together explain most of the difference,
// the largest first, if three are enough.
func (f *Findings) largestParts() string {
	var names []string
	sum := 0.0
	for _, c := range f.Causes[:min(len(f.Causes), 3)] {
		if math.Abs(f.Difference) < tick || c.Difference*f.Difference <= 0 {
			continue // in the opposite direction
		}
		sum += c.Difference
		names = append(names, fmt.Sprintf("%s (%s)", c.name(), wording.Duration(math.Abs(c.Difference))))
		if sum/f.Difference >= much {
			return fmt.Sprintf(" Most of that, on the critical path, which never waits: %s.", strings.Join(names, ", "))
		}
	}
	return ""
}

// name describes the part of the path.
func (c *Cause) name() string {
	switch c.Function {
	case string(accounts.Computation):
		name := "computation " + c.CallSite
		if c.Rank != nil {
			name += fmt.Sprintf(" on rank %d", *c.Rank)
		}
		return name
	case string(accounts.Launch):
		return "the launch, until the last rank had called MPI_Init"
	case string(accounts.Untraced):
		return "time that was not traced"
	case otherSites:
		return "other call sites"
	}
	return callsite.At(c.Function, c.CallSite)
}

// name describes the place.
func (p *Activity) name() string {
	name := callsite.At(p.Function, p.CallSite)
	if p.What == "computation" {
		return "computation before " + name
	}
	return name
}

// textRows is the maximum number of rows of tables on a terminal.
const textRows = 15

// WriteText writes the findings for a terminal.
func (f *Findings) WriteText(w io.Writer) error {
	fmt.Fprintln(w, f.Text)
	if !f.DifferentPrograms {
		fmt.Fprintf(w, "Mean over ranks: computation %+.6f s, MPI %+.6f s.\n", f.Computation, f.MPI)
	}
	for _, note := range f.Notes {
		fmt.Fprintln(w, "Note:", note)
	}
	if f.DifferentPrograms {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nPhase\tA, s\tB, s\tB - A, s\n")
	for _, p := range f.Phases {
		fmt.Fprintf(t, "%s\t%.6f\t%.6f\t%+.6f\n", p.Name, p.A, p.B, p.B-p.A)
	}
	fmt.Fprintf(t, "\nOn the critical path\tA, s\tB, s\tB - A, s\n")
	for _, c := range f.Causes[:min(len(f.Causes), textRows)] {
		fmt.Fprintf(t, "%s\t%.6f\t%.6f\t%+.6f\n", c.name(), c.A, c.B, c.Difference)
	}
	if len(f.Changes) > 0 {
		beyond := "within the runs"
		if f.PValue != nil {
			beyond = "between equal runs"
		}
		fmt.Fprintf(t, "\nIterations changed by more than %s: rank\twhat\tper iteration\t\ttotal, s\tp\tphase\n", beyond)
		for _, c := range f.Changes[:min(len(f.Changes), textRows)] {
			what := c.What
			if c.Relative {
				what += ", relative"
			}
			fmt.Fprintf(t, "%d\t%s\t%s\t%+.1f%%\t%+.6f\t%.1g\t%s\n", c.Rank, what, wording.Duration(c.Shift), c.Percent, c.Seconds, c.PValue, c.Phase)
		}
	}
	fmt.Fprintf(t, "\nTime at places, waiting included: what waits is seldom what is slow; mean over ranks\tA, s\tB, s\tB - A, s\tmost on rank\n")
	for _, p := range f.Activities[:min(len(f.Activities), textRows)] {
		fmt.Fprintf(t, "%s\t%.6f\t%.6f\t%+.6f\t%d (%+.6f)\n", p.name(), p.A, p.B, p.Difference, p.Rank, p.RankDifference)
	}
	return t.Flush()
}
