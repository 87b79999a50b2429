package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	waitfindings "github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Summary is what a run prints when it ends: the verdict and the numbers behind it.
func (r *Report) Summary() string {
	e := r.Efficiency
	if e.Parallel == nil {
		return r.Verdict.Text + "\n"
	}
	if e.LoadBalance == nil {
		return fmt.Sprintf("%s\nParallel efficiency %.0f%%.\n", r.Verdict.Text, 100**e.Parallel)
	}
	return fmt.Sprintf("%s\nParallel efficiency %.0f%% = load balance %.0f%% × communication efficiency %.0f%%.\n",
		r.Verdict.Text, 100**e.Parallel, 100**e.LoadBalance, 100**e.Communication)
}

// Width of summary.txt: that of a terminal. A place in a program that is longer than what is left has a line that is
// longer, rather than being cut.
const textWidth = 80

// summaryRows is how many rows each list of summary.txt has at most.
const summaryRows = 5

// Text is summary.txt: the page in short, for a terminal of 80 columns.
func (r *Report) Text() string {
	var t text
	t.paragraph("", r.origins())
	t.WriteByte('\n')
	t.paragraph("", r.Verdict.Text)
	t.heading("What to do next")
	for i, step := range r.next() {
		t.paragraph(fmt.Sprintf("%d. ", i+1), step)
	}
	if r.Stopped != nil {
		t.heading("Where the ranks were in the end, and for how long")
		for _, rank := range first(r.Stopped.Ranks, summaryRows) {
			row := newWhereRow(rank)
			t.row(row.lasted(), row.words())
		}
	}
	t.heading("Efficiency (80% and more is good)")
	t.efficiency(r.tree(), 0)
	if cpus := r.cpus(); cpus != "" {
		t.paragraph("", cpus)
	}
	if waits := r.certainWaits(); len(waits) > 0 {
		t.heading("Waiting, all ranks together")
		for _, w := range first(slices.DeleteFunc(waits, func(w waitfindings.WaitTime) bool { return w.PartOf != "" }), summaryRows) {
			t.row(wording.Duration(w.Seconds), fmt.Sprintf("%s, %d times: %s", w.Kind, w.Count, explain(w.Kind)))
		}
	}
	if causes := r.rootCauses(); len(causes) > 0 {
		t.heading("What they waited for in the end")
		for _, d := range first(causes, summaryRows) {
			t.row(wording.Duration(d.ShortTerm+d.LongTerm), fmt.Sprintf("rank %d, %s", d.Rank, activity(d.Function, d.CallSite)))
		}
	}
	if impacts := r.impacts(); len(impacts) > 0 && r.Path.Impact.Within+r.Path.Impact.Between > 0 {
		t.heading("What the critical path costs all ranks, doing it and idle meanwhile")
		for _, i := range first(impacts, summaryRows) {
			what := activity(i.Function, i.CallSite)
			if idle := i.Within + i.Between; idle > 0 {
				what += fmt.Sprintf(", %s of it idle", wording.Duration(idle))
			}
			t.row(wording.Duration(i.Seconds()), what)
		}
	}
	if len(r.CallSites) > 0 {
		t.heading("Costliest MPI calls, all ranks together")
		for _, s := range first(r.CallSites, summaryRows) {
			what := fmt.Sprintf("%s, %d times", callsite.At(s.Function, s.CallSite), s.Calls)
			if s.Waiting != nil && *s.Waiting > 0 {
				what += fmt.Sprintf(", %s of it waiting", wording.Duration(*s.Waiting))
			}
			t.row(wording.Duration(s.Seconds), what)
		}
	}
	if len(r.WhatIf) > 0 {
		t.heading(fmt.Sprintf("What if (the run took %s)", wording.Duration(r.RunSeconds)))
		for _, w := range first(r.WhatIf, summaryRows) {
			t.row(wording.Duration(w.Seconds), "if "+w.What)
		}
	}
	if warnings := r.warnings(); len(warnings) > 0 {
		t.heading("Read with care")
		for _, w := range warnings {
			t.paragraph("- ", w)
		}
	}
	return t.String()
}

// origins is one line on what the report is about.
func (r *Report) origins() string {
	p := r.Provenance
	what := p.Job
	if what == "" {
		what = p.Executable
	}
	line := fmt.Sprintf("%s, attempt %d, run %d: %d ranks", what, p.Attempt, p.Run, p.Ranks)
	if r.RunSeconds > 0 || r.lacksPath() == nil {
		line += ", " + wording.Duration(r.RunSeconds)
	}
	if p.Start != "" {
		line += ", started " + p.Start
	}
	return strings.TrimPrefix(line, ", ")
}

// activity words a call, or the computation between two.
func activity(function, site string) string {
	if strings.HasPrefix(site, "between ") || strings.HasPrefix(site, "before ") || strings.HasPrefix(site, "after ") {
		return function + " " + site
	}
	return callsite.At(function, site)
}

// text is a summary under construction.
type text struct{ strings.Builder }

func (t *text) heading(s string) { fmt.Fprintf(t, "\n%s\n", s) }

// paragraph writes words in lines; the first begins with the mark, the others are indented by as much.
func (t *text) paragraph(mark, s string) {
	t.lines(mark, strings.Repeat(" ", len(mark)), s)
}

// row is an amount and what it is of.
func (t *text) row(amount, what string) {
	const column = 10
	padding := strings.Repeat(" ", max(0, column-utf8.RuneCountInString(amount)))
	t.lines(padding+amount+"  ", strings.Repeat(" ", column+2), what)
}

func (t *text) lines(begin, indent, s string) {
	line, length, empty := begin, utf8.RuneCountInString(begin), true
	for _, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		if !empty && length+1+n > textWidth {
			fmt.Fprintln(t, line)
			line, length, empty = indent, len(indent), true
		}
		if !empty {
			line += " "
			length++
		}
		line += word
		length += n
		empty = false
	}
	fmt.Fprintln(t, line)
}

// efficiency writes a node of the tree and what it is the product of.
func (t *text) efficiency(e efficiency, depth int) {
	value := "not known"
	if e.Known() {
		value = fmt.Sprintf("%d%%", e.Percent())
	}
	fmt.Fprintf(t, "%11s  %s%s\n", value, strings.Repeat("  ", depth), e.Name)
	for _, part := range e.Parts {
		t.efficiency(part, depth+1)
	}
}
