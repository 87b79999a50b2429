package clock

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// A clock that is as far ahead in every second round as rounding can move two moments, is left as it is; where nothing was
// rounded it has to be moved. Gaps of 0.25 units on a grid of 5% have steps of 12,500 ticks at most; one unit is a million.
func TestRoundingMovesNoClock(t *testing.T) {
	for mode, steps := range map[string]bool{"lossless": true, "lossy 5": false} {
		ahead := func(round int) float64 { return float64(round%2) * 0.1 }
		content := pingPong(100, ahead).Content()
		_, f, err := analyze(context.Background(), timeline.Of(tracetest.Open(t, tracetest.Rounded(t, content, mode))), nil)
		require.NoError(t, err)
		assert.Equal(t, steps, f.Steps > 0, "%s: %d steps", mode, f.Steps)
	}
}

var _ = trace.MomentTicks
