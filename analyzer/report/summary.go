package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/rootcauses"

	"github.com/cairn-mpi/cairn/analyzer/analyses/path"
	"github.com/cairn-mpi/cairn/analyzer/analyses/program"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/analyses/stopped"
	"github.com/cairn-mpi/cairn/analyzer/analyses/waits"
	"github.com/cairn-mpi/cairn/analyzer/analyses/whatif"
	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// Summary returns what a run prints at its end: the verdict and the numbers behind it.
func (r *Report) Summary() string {
	text := r.Verdict().Text + "\n"
	switch e := r.Efficiency(); {
	case e.Parallel == nil:
	case e.LoadBalance == nil:
		text += fmt.Sprintf("Parallel efficiency %.0f%%.\n", 100**e.Parallel)
	default:
		text += fmt.Sprintf("Parallel efficiency %.0f%% = load balance %.0f%% × communication efficiency %.0f%%.\n",
			100**e.Parallel, 100**e.LoadBalance, 100**e.Communication)
	}
	if omitted := Of[program.Findings](r).Omitted; omitted != "" {
		text += omitted + "\n"
	}
	return text
}

// Width of summary.txt: that of a terminal. A description of a call site that is too long gets a
// longer line rather than being cut.
const textWidth = 80

// summaryRows is the maximum number of rows of each list in summary.txt.
const summaryRows = 5

// Text returns summary.txt: the page in short, for a terminal of 80 columns.
func (r *Report) Text() string {
	var t text
	t.paragraph("", r.origins())
	t.WriteByte('\n')
	t.paragraph("", r.Verdict().Text)
	t.heading("What to do next")
	for i, step := range r.next() {
		t.paragraph(fmt.Sprintf("%d. ", i+1), step)
	}
	if s := Of[stopped.Findings](r).Stopped; s != nil {
		t.heading("Where the ranks were at the end, and for how long")
		for _, rank := range section.First(s.Ranks, summaryRows) {
			row := stopped.NewRow(rank)
			t.row(row.Lasted(), row.Words())
		}
	}
	if efficiency.Analyzed(&r.Run) {
		t.heading("Efficiency (80% or more is good)")
		t.efficiency(efficiency.Tree(&r.Run), 0)
		if text := efficiency.LoopSentence(&r.Run); text != "" {
			t.paragraph("", text)
		}
	}
	if text := cpus.Sentence(&r.Run); text != "" {
		t.paragraph("", text)
	}
	if list := Of[waits.Findings](r).Certain(); len(list) > 0 {
		t.heading("Waiting, all ranks together")
		for _, w := range section.First(slices.DeleteFunc(list, func(w waits.WaitTime) bool { return w.PartOf != "" }), summaryRows) {
			t.row(wording.Duration(w.Seconds), fmt.Sprintf("%s, %s: %s", w.Kind, wording.Count(w.Count, "time", "times"), waits.Explain(w.Kind)))
		}
	}
	if causes := Of[rootcauses.Findings](r).Costly(); len(causes) > 0 {
		t.heading("Root causes of the waiting")
		for _, d := range section.First(causes, summaryRows) {
			t.row(wording.Duration(d.ShortTerm+d.LongTerm), fmt.Sprintf("rank %d, %s", d.Rank, section.Activity(d.Function, d.CallSite)))
		}
	}
	route := Of[path.Findings](r)
	if impacts := route.Costly(); len(impacts) > 0 && route.Path.Impact.Within+route.Path.Impact.Between > 0 {
		t.heading("What the critical path costs all ranks, working and idle")
		for _, i := range section.First(impacts, summaryRows) {
			what := section.Activity(i.Function, i.CallSite)
			if idle := i.Within + i.Between; idle > 0 {
				what += fmt.Sprintf(", %s of it idle", wording.Duration(idle))
			}
			t.row(wording.Duration(i.Seconds()), what)
		}
	}
	if sites := Of[ranks.Findings](r).CallSites; len(sites) > 0 {
		t.heading("Costliest MPI calls, all ranks together")
		for _, s := range section.First(sites, summaryRows) {
			what := callsite.At(s.Function, s.CallSite) + ", " + wording.Count(s.Calls, "time", "times")
			if s.Waiting != nil && *s.Waiting > 0 {
				what += fmt.Sprintf(", %s of it waiting", wording.Duration(*s.Waiting))
			}
			t.row(wording.Duration(s.Seconds), what)
		}
	}
	if list := Of[whatif.Findings](r).WhatIf; len(list) > 0 {
		t.heading(fmt.Sprintf("What if (the run took %s)", wording.Duration(r.RunSeconds())))
		for _, w := range section.First(list, summaryRows) {
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

// origins returns one line on what the report is about.
func (r *Report) origins() string {
	p := r.Provenance
	what := p.Job
	if what == "" {
		what = p.Executable
	}
	line := fmt.Sprintf("%s, attempt %d, run %d: %s", what, p.Attempt, p.Run, wording.Count(p.Ranks, "rank", "ranks"))
	if r.RunSeconds() > 0 {
		line += ", " + wording.Duration(r.RunSeconds())
	}
	if p.Start != "" {
		line += ", started " + p.Start
	}
	return strings.TrimPrefix(line, ", ")
}

// text is a summary under construction.
type text struct{ strings.Builder }

func (t *text) heading(s string) { fmt.Fprintf(t, "\n%s\n", s) }

// paragraph wraps words; the first line begins with the mark, and the others are indented by its
// width.
func (t *text) paragraph(mark, s string) {
	t.lines(mark, strings.Repeat(" ", len(mark)), s)
}

// row writes an amount and its description.
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

// efficiency writes a node of the tree and its factors.
func (t *text) efficiency(e efficiency.Node, depth int) {
	value := "not known"
	if e.Known() {
		value = fmt.Sprintf("%d%%", e.Percent())
	}
	fmt.Fprintf(t, "%11s  %s%s\n", value, strings.Repeat("  ", depth), e.Name)
	for _, part := range e.Parts {
		t.efficiency(part, depth+1)
	}
}
