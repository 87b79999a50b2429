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

// Sections are the sections of the report that show the findings.
var Sections = []section.Section{{Name: "stopped", Title: "How it ended", Files: files, View: view}}

// A Row is the state of a rank when the run ended.
type Row struct {
	Rank
	Where, For, Died string
}

// view returns the section on a run that did not complete; nil for other runs.
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

// NewRow describes the state of a rank.
func NewRow(r Rank) Row {
	row := Row{Rank: r, Where: callsite.At(r.Function, r.CallSite)}
	if r.Activity != "" {
		row.State += ", " + string(r.Activity)
	}
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

// Words returns the row as one line of text.
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

// Lasted returns how long the state lasted, as shown in summary.txt.
func (w Row) Lasted() string { return wording.Duration(w.LastedSeconds) }
