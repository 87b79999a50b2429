package whatif

import (
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Findings are what-ifs.
type Findings struct {
	// WhatIf has the ideal network first, then what promises most; null where times of single calls were not kept.
	WhatIf []WhatIf `json:"what_if" jsonschema:"nullable"`
}

// WhatIf is how long the run would have taken under another condition: a prediction by replay (package predict has
// the model and what it assumes), or an estimate.
type WhatIf struct {
	What     string         `json:"what"` // in words: "rank 3 computed as fast as the others"
	Kind     verdict.Kind   `json:"kind"`
	Rank     *int           `json:"rank,omitempty"`
	Site     *verdict.Place `json:"site,omitempty"`
	Seconds  float64        `json:"seconds"` // predicted run time
	Gain     float64        `json:"gain"`    // part of the run's length that is saved
	Estimate bool           `json:"estimate"`
	Assumes  string         `json:"assumes"`
}
