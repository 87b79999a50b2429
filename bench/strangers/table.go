package strangers

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// Bounds returns the 95% confidence interval of a share by Clopper and Pearson (1934), for k
// successes in n.
func Bounds(k, n int) (low, high float64) {
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(0.025)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.975)
	}
	return low, high
}

// A Score counts outcomes.
type Score map[Outcome]int

// N is the number of judged runs.
func (s Score) N() (n int) {
	for _, k := range s {
		n += k
	}
	return n
}

// A Summary is what an examination shows of some programs.
type Summary struct {
	Large    Score // runs with a fault that must be named, of the classes A and B
	Controls Score // runs without a fault, and all of class C
}

// Summarize counts the runs of programs that are held out, or of the others.
func Summarize(all []*Verdict, heldOut bool) Summary {
	s := Summary{Score{}, Score{}}
	for _, v := range all {
		switch {
		case v.HeldOut != heldOut:
		case v.isControl() || v.Class == Crowd:
			s.Controls[v.Outcome]++
		case v.Large:
			s.Large[v.Outcome]++
		}
	}
	return s
}

// Report prints the tables, and each run with a fault that was not named, or with a false blame.
func (r *Results) Report(to io.Writer) ([]*Verdict, error) {
	all, err := r.Judge()
	if err != nil {
		return nil, err
	}
	printTable(to, "runs with a fault that costs much, or ends them", all, func(v *Verdict) bool { return v.Large && !v.control() })
	printTable(to, "runs with a fault that costs less", all, func(v *Verdict) bool { return !v.Large && !v.control() })
	printTable(to, "runs without a fault, and with more ranks than cores", all, (*Verdict).control)
	r.printOthers(to)
	for _, v := range all {
		if v.Outcome == FalseBlame || v.Large && !v.control() && v.Outcome != Right {
			fmt.Fprintf(to, "%s: %v (%s, %.0f%%): %s\n", v.Outcome, &v.Case, v.Turn, 100*v.Cost, firstLine(v.Text))
		}
	}
	return all, nil
}

func (v *Verdict) control() bool { return v.isControl() || v.Class == Crowd }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// row is a row of a table.
type row struct {
	heldOut bool
	class   Class
	fault   string
}

func printTable(to io.Writer, title string, all []*Verdict, belongs func(*Verdict) bool) {
	scores := map[row]Score{}
	for _, v := range all {
		if !belongs(v) {
			continue
		}
		at := row{v.HeldOut, v.Class, v.Fault}
		if v.isControl() {
			at.fault = "-"
		}
		for _, at := range []row{at, {heldOut: v.HeldOut, class: "all"}} {
			if scores[at] == nil {
				scores[at] = Score{}
			}
			scores[at][v.Outcome]++
		}
	}
	if len(scores) == 0 {
		return
	}
	fmt.Fprintf(to, "%-54s%5s", title, "n")
	for _, o := range Outcomes {
		fmt.Fprintf(to, " %11s", o)
	}
	fmt.Fprintln(to)
	for _, at := range sortedRows(scores) {
		s := scores[at]
		name := fmt.Sprintf("%s %s", at.class, at.fault)
		if at.heldOut {
			name += ", held out"
		}
		fmt.Fprintf(to, "  %-52s%5d", name, s.N())
		for _, o := range Outcomes {
			fmt.Fprintf(to, " %11d", s[o])
		}
		fmt.Fprintln(to)
	}
	fmt.Fprintln(to)
}

func sortedRows(scores map[row]Score) []row {
	var rows []row
	for at := range scores {
		rows = append(rows, at)
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.heldOut != b.heldOut {
			return map[bool]int{false: -1, true: 1}[a.heldOut]
		}
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.fault, b.fault))
	})
	return rows
}

// printOthers counts the runs that are not judged, by the reason.
func (r *Results) printOthers(to io.Writer) {
	counts := map[string]int{}
	for _, record := range r.Records {
		for what, why := range map[string]string{
			"not possible here": record.Impossible, "discarded": record.Discarded, "failed": record.Failed,
		} {
			if why != "" {
				counts[fmt.Sprintf("%s: %s: %s", what, record.Class, why)]++
			}
		}
	}
	var lines []string
	for why, n := range counts {
		lines = append(lines, fmt.Sprintf("%5d %s", n, why))
	}
	slices.Sort(lines)
	for _, line := range lines {
		fmt.Fprintln(to, line)
	}
}
