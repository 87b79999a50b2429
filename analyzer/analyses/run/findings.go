package run

import (
	"github.com/cairn-mpi/cairn/analyzer/clock"
)

// Findings describe the run as a whole. Unknown values are omitted from the JSON. Without this
// analysis, the report has RunSeconds from the merge, or nothing.
type Findings struct {
	// T: first entry into MPI_Init to last exit from MPI_Finalize
	RunSeconds float64 `json:"run_seconds,omitzero"`
	// start of T on the common clock, which is CLOCK_MONOTONIC of the first rank's node
	RunStartNS int64 `json:"run_start_ns,omitzero"`
	// the only part that was analyzed; T and all other findings refer to it
	Window *Window        `json:"window,omitempty"`
	Clock  clock.Findings `json:"clock,omitzero"`
	Timing TimingError    `json:"timing,omitzero"`
	Notes  []string       `json:"notes,omitempty"` // unmatched calls, defects of the trace
}

// A Window is a part of the run.
type Window struct {
	From float64 `json:"from_seconds"` // since the start of the run
	To   float64 `json:"to_seconds"`
}

// TimingError is the effect of the timing mode on all times of the findings, in addition to the
// error of the clocks.
type TimingError struct {
	Mode string `json:"mode"` // "lossless", "lossy", "aggregated"
	// ErrorPercent is the largest error of a duration and of the time between two calls of a
	// thread.
	ErrorPercent int `json:"error_percent"`
	// MomentSeconds is the largest error of the time of a call's enter or exit.
	MomentSeconds float64 `json:"moment_seconds"`
}
