package run

import (
	"github.com/cairn-mpi/cairn/analyzer/clock"
)

// Findings are about the run as a whole. What is not known is left out of the JSON: where this analysis did not run, the
// report has RunSeconds from the merge, or nothing.
type Findings struct {
	RunSeconds float64        `json:"run_seconds,omitzero"`  // T: first entry into MPI_Init to last exit from MPI_Finalize
	RunStartNS int64          `json:"run_start_ns,omitzero"` // when that began, on the common clock: CLOCK_MONOTONIC of the first rank's node
	Window     *Window        `json:"window,omitempty"`      // only this part was looked at; T and all the rest are of it
	Clock      clock.Findings `json:"clock,omitzero"`
	Timing     TimingError    `json:"timing,omitzero"`
	Notes      []string       `json:"notes,omitempty"` // what found no partner, what the trace lacks
}

// A Window is a part of the run.
type Window struct {
	From float64 `json:"from_seconds"` // since the run began
	To   float64 `json:"to_seconds"`
}

// TimingError is what the mode of timing means for all times of the findings, beside the error of the clocks.
type TimingError struct {
	Mode string `json:"mode"` // "lossless", "lossy", "aggregated"
	// ErrorPercent is the largest error of a duration and of the time between two calls of a thread.
	ErrorPercent int `json:"error_percent"`
	// MomentSeconds is by how much the time of a call's enter or exit may be off at most.
	MomentSeconds float64 `json:"moment_seconds"`
}
