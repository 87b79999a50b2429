package rootcauses

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// Findings are the root causes of waiting.
type Findings struct {
	RootCauses *RootCauses `json:"root_causes"` // null where times of single calls were not kept
	Notes      []string    `json:"notes,omitempty"`
}

// RootCauses say what all the waiting is put down to: delays, which are more time in an activity than those have who
// wait for it, and waiting that was itself waited for.
type RootCauses struct {
	WaitingSeconds     float64 `json:"waiting_seconds"`  // of all ranks
	DirectSeconds      float64 `json:"direct_seconds"`   // for delays of the rank that was waited for
	IndirectSeconds    float64 `json:"indirect_seconds"` // for its own waiting
	UnexplainedSeconds float64 `json:"unexplained_seconds"`
	Delays             []Delay `json:"delays"` // costliest first, at most 500
	DelaysOmitted      int     `json:"delays_omitted"`
}

// Delay is an activity in which a rank took longer than ranks that then waited for it.
type Delay struct {
	Rank      int           `json:"rank"`
	Kind      accounts.Kind `json:"kind"`
	Function  string        `json:"function"`           // "computation" for what is outside MPI
	CallSite  string        `json:"call_site"`          // for computation, between which calls
	ShortTerm float64       `json:"short_term_seconds"` // waiting directly for it
	LongTerm  float64       `json:"long_term_seconds"`  // waiting for ranks that waited for it, and so on
}
