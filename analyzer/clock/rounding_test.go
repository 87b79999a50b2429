package clock

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
)

// A clock that seems to be 0.1 units ahead in every second round is left as it is where times are rounded: of gaps of 1,000
// units moments are off by up to trace.MomentTicks, 0.066 units, on either side. Where nothing was rounded it has to be
// moved: messages take 0.03 units at most.
func TestRoundingMovesNoClock(t *testing.T) {
	for mode, steps := range map[string]bool{"lossless": true, "lossy 5": false} {
		ahead := func(round int) float64 { return float64(round%2) * 0.1 }
		content := pingPong(100, ahead).Content()
		_, f, err := analyze(context.Background(), timeline.Of(tracetest.Open(t, tracetest.Rounded(t, content, mode))), nil)
		require.NoError(t, err)
		assert.Equal(t, steps, f.Steps > 0, "%s: %d steps", mode, f.Steps)
	}
}
