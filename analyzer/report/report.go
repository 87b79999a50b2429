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

// frame are the keys of report.json that are of no analysis.
type frame struct {
	// Missing are the analyses whose findings the report lacks; left out if there are none.
	Missing    []MissingAnalysis  `json:"missing_analyses,omitempty"`
	Provenance section.Provenance `json:"provenance"`
	Notes      []string           `json:"notes"`
}

// verdict is the one on the run; without one it says why.
func (r *Report) verdict() verdict.Verdict { return Of[found.Findings](r).Verdict }

func (r *Report) efficiency() efficiency.Efficiency { return Of[efficiency.Findings](r).Efficiency }

func (r *Report) runSeconds() float64 { return Of[run.Findings](r).RunSeconds }
