package clock

import (
	"context"
	"fmt"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
)

// An Observer is an analysis of matched calls that shares the pass that binds the clocks. That pass
// uses the clocks as guessed. If the guess turns out to be right, which is the case within a
// machine and with synchronized clocks, the observer does not need a pass of its own.
type Observer struct {
	Handler   match.Handler
	See       func(*match.Call)    // called for each call before it is matched
	Decoded   func(*timeline.Call) // called where it is decoded; see match.InSections
	Cuts      *match.Cuts          // collects quiescent points of the pass, if not nil
	Leftovers []match.Leftover     // operations without a partner, set after the pass
	// Arrived reports that there was a pass, and that its clocks are those of the map.
	Arrived bool
}

// AnalyzeWith is Analyze with an observer.
func AnalyzeWith(ctx context.Context, t timeline.Trace, p *Observer) (*Map, error) {
	clocks, findings, err := analyze(ctx, t, p)
	if err != nil {
		return nil, fmt.Errorf("clocks: %w", err)
	}
	return &Map{SchemaVersion: SchemaVersion, Trace: identity(t), Clocks: clocks, Findings: findings}, nil
}

// guessed reports whether the clocks are still as guessed.
func guessed(clocks *timeline.Clocks, guess []int64) bool {
	for d := range clocks.Domains {
		if k := &clocks.Domains[d]; k.Offset != guess[d] || k.Rate != 0 || len(k.Steps) > 0 {
			return false
		}
	}
	return true
}
