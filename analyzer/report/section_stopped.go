package report

import (
	"fmt"
	"strings"

	"github.com/cairn-mpi/cairn/analyzer/callsite"
	"github.com/cairn-mpi/cairn/analyzer/stopped"
	"github.com/cairn-mpi/cairn/analyzer/wording"
)

// A whereRow is where a rank was when the run ended.
type whereRow struct {
	stopped.Rank
	Where, For, Died string
}

// viewStopped is the section on a run that did not come to its end; nil for others.
func viewStopped(r *Report) any {
	if r.Stopped == nil {
		return nil
	}
	var rows []whereRow
	for _, rank := range r.Stopped.Ranks {
		rows = append(rows, newWhereRow(rank))
	}
	return bounded(rows)
}

func newWhereRow(r stopped.Rank) whereRow {
	row := whereRow{Rank: r, Where: callsite.At(r.Function, r.CallSite)}
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

// words is a row as a line.
func (w whereRow) words() string {
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

// lasted is for how long the rank was there, as summary.txt shows it.
func (w whereRow) lasted() string { return wording.Duration(w.LastedSeconds) }
