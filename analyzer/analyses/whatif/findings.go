package whatif

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Findings are what-ifs.
type Findings struct {
	// WhatIf has the ideal network first, then the others by decreasing gain; null if the times of
	// single calls were not recorded.
	WhatIf []WhatIf `json:"what_if" jsonschema:"nullable"`
}

// WhatIf is the duration of the run under another condition: an estimate, or a prediction by replay
// (package predict has the model and its assumptions).
type WhatIf struct {
	What     string        `json:"what"` // as text: "rank 3 computed as fast as the others"
	Kind     verdict.Kind  `json:"kind"`
	Rank     *int          `json:"rank,omitempty"`
	Site     *verdict.Call `json:"site,omitempty"`
	Seconds  float64       `json:"seconds"` // predicted run time; of a run that hung, until its last progress
	Gain     float64       `json:"gain"`    // saved part of that time
	Estimate bool          `json:"estimate"`
	Assumes  string        `json:"assumes"`
}
