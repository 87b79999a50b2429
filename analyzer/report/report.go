package report

import (
	"github.com/cairn-mpi/cairn/analyzer/analyses/efficiency"
	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	found "github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/report/section"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// SchemaVersion is the version of report.json. It is incremented when a key is removed or changes
// its meaning.
const SchemaVersion = 2

// A Report has the findings on a run. report.json has the keys of all findings and those of Frame.
type Report struct {
	section.Run
	list []analysis.Any // available ones, in the order of the page
	// Missing are the analyses without findings.
	Missing []MissingAnalysis
	// Notes are the notes of all analyses: reasons why results are less certain.
	Notes []string
}

// Of returns the findings of the type T of an analysis; the zero T if there are none.
func Of[T any](r *Report) T { return section.Of[T](&r.Run) }

// A Frame has the keys of report.json that belong to no analysis.
type Frame struct {
	SchemaVersion int `json:"schema_version"`
	// Missing are the analyses without findings in the report; omitted if there are none.
	Missing    []MissingAnalysis  `json:"missing_analyses,omitempty"`
	Provenance section.Provenance `json:"provenance"`
	Notes      []string           `json:"notes"`
}

// Verdict returns the verdict on the run. Without one, its text says why.
func (r *Report) Verdict() verdict.Verdict { return Of[found.Findings](r).Verdict }

// Efficiency returns the efficiencies of the run.
func (r *Report) Efficiency() efficiency.Efficiency { return Of[efficiency.Findings](r).Efficiency }

// RunSeconds returns the duration of the run; 0 if unknown.
func (r *Report) RunSeconds() float64 { return Of[run.Findings](r).RunSeconds }
