package report

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	found "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// SchemaVersion is that of report.json: it grows when a key changes its meaning or goes.
const SchemaVersion = 2

// A Report is what is known of a run: report.json has the keys of all findings, and those below.
type Report struct {
	section.Run
	list []analysis.Any // those that there are, in the order of the page
	// Missing are the analyses whose findings the report lacks.
	Missing []MissingAnalysis
	// Notes are what makes the rest less certain, of all analyses.
	Notes []string
}

// Of is the findings of the analysis that finds a T; the zero T where it has none.
func Of[T any](r *Report) T { return section.Of[T](&r.Run) }

// A Frame has the keys of report.json that belong to no analysis.
type Frame struct {
	SchemaVersion int `json:"schema_version"`
	// Missing are the analyses whose findings the report lacks; left out if there are none.
	Missing    []MissingAnalysis  `json:"missing_analyses,omitempty"`
	Provenance section.Provenance `json:"provenance"`
	Notes      []string           `json:"notes"`
}

// Verdict is the one on the run; without one it says why.
func (r *Report) Verdict() verdict.Verdict { return Of[found.Findings](r).Verdict }

// Efficiency are those of the run.
func (r *Report) Efficiency() efficiency.Efficiency { return Of[efficiency.Findings](r).Efficiency }

// RunSeconds is how long the run took; 0 where that is not known.
func (r *Report) RunSeconds() float64 { return Of[run.Findings](r).RunSeconds }
