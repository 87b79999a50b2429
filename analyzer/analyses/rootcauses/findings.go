package rootcauses

import (
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

// Findings are the root causes of waiting.
type Findings struct {
	RootCauses *RootCauses `json:"root_causes"` // null if the times of single calls were not recorded
	Notes      []string    `json:"notes,omitempty"`
}

// RootCauses attributes all waiting to its causes. A delay is more time in an activity than the
// waiting rank spent in it. Waiting of the awaited rank is attributed to the causes of that
// waiting.
type RootCauses struct {
	WaitingSeconds     float64 `json:"waiting_seconds"`  // of all ranks
	DirectSeconds      float64 `json:"direct_seconds"`   // caused by delays of the awaited rank
	IndirectSeconds    float64 `json:"indirect_seconds"` // caused by its own waiting
	UnexplainedSeconds float64 `json:"unexplained_seconds"`
	Delays             []Delay `json:"delays"` // costliest first, at most 500
	DelaysOmitted      int     `json:"delays_omitted"`
}

// Delay is an activity in which a rank took longer than ranks that then waited for it.
type Delay struct {
	Rank      int           `json:"rank"`
	Kind      accounts.Kind `json:"kind"`
	Function  string        `json:"function"`           // "computation" outside of MPI
	CallSite  string        `json:"call_site"`          // of a computation: the calls before and after it
	ShortTerm float64       `json:"short_term_seconds"` // waiting directly for it
	LongTerm  float64       `json:"long_term_seconds"`  // waiting for ranks that waited for it, and so on
}
