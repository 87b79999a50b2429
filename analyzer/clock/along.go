package clock

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// A Observer is an analysis of matched calls that goes along with the pass that binds the clocks. That pass lays the
// clocks as first guessed; if they turn out to be right, as they are within a machine and where clocks are kept in step,
// the observer has seen what a pass of its own would have shown it.
type Observer struct {
	Handler   match.Handler
	See       func(*match.Call)    // is told of each call before it is matched,
	Decoded   func(*timeline.Call) // and where it is decoded: see match.InSections
	Cuts      *match.Cuts          // notes those of the pass; nil: nobody does
	Leftovers []match.Leftover     // what found no partner, after the pass
	// Arrived tells that there was a pass, on clocks that are the map's.
	Arrived bool
}

// AnalyzeWith is Analyze with a observer.
func AnalyzeWith(ctx context.Context, t timeline.Trace, p *Observer) (*Map, error) {
	clocks, findings, err := analyze(ctx, t, p)
	if err != nil {
		return nil, fmt.Errorf("clocks: %w", err)
	}
	return &Map{SchemaVersion: SchemaVersion, Trace: identity(t), Clocks: clocks, Findings: findings}, nil
}

// guessed reports whether the clocks are as they were guessed.
func guessed(clocks *timeline.Clocks, guess []int64) bool {
	for d := range clocks.Domains {
		if k := &clocks.Domains[d]; k.Offset != guess[d] || k.Rate != 0 || len(k.Steps) > 0 {
			return false
		}
	}
	return true
}
