package stopped

import (
	"embed"
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

//go:embed stopped.html.tmpl
var files embed.FS

// Sections are what the report shows of the findings.
var Sections = []section.Section{{Name: "stopped", Title: "How it ended", Files: files, View: view}}

// A Row is where a rank was when the run ended.
type Row struct {
	Rank
	Where, For, Died string
}

// view is the section on a run that did not come to its end; nil for others.
func view(r *section.Run) any {
	f := section.Of[Findings](r)
	if f.Stopped == nil {
		return nil
	}
	var rows []Row
	for _, rank := range f.Stopped.Ranks {
		rows = append(rows, NewRow(rank))
	}
	return section.Bounded(rows)
}

// NewRow words where a rank was.
func NewRow(r Rank) Row {
	row := Row{Rank: r, Where: callsite.At(r.Function, r.CallSite)}
	if r.State != "waiting" && r.Function != "" {
		row.Where = "after " + row.Where
	}
	if r.For != "" {
		row.For = "rank " + r.For
		if strings.ContainsAny(r.For, "-,") {
			row.For = "ranks " + r.For
		}
		if r.AnyOf {
			row.For = "one of " + row.For
		}
	}
	var died []string
	if r.Signal != nil {
		died = append(died, fmt.Sprintf("signal %d", *r.Signal))
	}
	if r.ExitCode != nil {
		died = append(died, fmt.Sprintf("exit code %d", *r.ExitCode))
	}
	row.Died = strings.Join(died, ", ")
	return row
}

// Words is a row as a line.
func (w Row) Words() string {
	text := fmt.Sprintf("rank %d: %s", w.Rank.Rank, w.State)
	switch {
	case w.Function == "":
	case w.State == "waiting":
		text += " in " + w.Where
	default:
		text += " " + w.Where
	}
	if w.For != "" {
		text += ", for " + w.For
	}
	if w.Died != "" {
		text += "; " + w.Died
	}
	return text
}

// Lasted is for how long the rank was there, as summary.txt shows it.
func (w Row) Lasted() string { return wording.Duration(w.LastedSeconds) }
