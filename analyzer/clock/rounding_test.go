package clock

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A clock that seems to be 0.05 units ahead in every second round is not corrected if times are
// rounded: after gaps of 1,000 units the error is up to half of the resolution, 0.016 units, on
// either side. With exact times it must be corrected, because messages take at most 0.03 units. If
// it seems to be 0.1 units ahead it must be corrected in both cases.
func TestRoundingMovesNoClock(t *testing.T) {
	for _, c := range []struct {
		mode  string
		ahead float64
		steps bool
	}{{"lossless", 0.05, true}, {"lossy 5", 0.05, false}, {"lossy 5", 0.1, true}} {
		ahead := func(round int) float64 { return float64(round%2) * c.ahead }
		content := pingPong(100, ahead).Content()
		_, f, err := analyze(context.Background(), timeline.Of(tracetest.Open(t, tracetest.Rounded(t, content, c.mode))), nil)
		require.NoError(t, err)
		assert.Equal(t, c.steps, f.Steps > 0, "%s, %g ahead: %d steps", c.mode, c.ahead, f.Steps)
	}
}
