package clock

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// pingPong returns rounds of a message back and forth, one per second (1,000 units); a message
// takes 0.01 to 0.03 units. The second node's clock is ahead(round) units ahead.
func pingPong(rounds int, ahead func(round int) float64) *tracetest.Builder {
	random := rand.New(rand.NewPCG(1, 1))
	b := tracetest.New(2)
	r0, r1 := b.Rank(0).Init(0, 5), b.Rank(1).Shift(ahead(0)).Init(0, 5)
	for k := range rounds {
		at := 1000 * float64(k+1)
		there, back := 0.01+0.02*random.Float64(), 0.01+0.02*random.Float64()
		r1.Shift(ahead(k)).Recv(at-1, at+there, 0, 8).Send(at+there+1, at+there+1.01, 0)
		r0.Send(at, at+0.01, 1).Recv(at+0.5, at+there+1+back, 1, 8)
	}
	end := 1000 * float64(rounds+1)
	r0.Finalize(end, end+5)
	r1.Finalize(end, end+5)
	r1.Info().BootID, r1.Info().Host = "boot1", "host1"
	return b
}

// worst returns the maximum time by which an effect precedes its cause, and the distance of rank 1
// from the true time.
func worst(t *testing.T, tr timeline.Trace, clocks *timeline.Clocks, ahead func(round int) float64) (violation, off float64) {
	v := &causes{of: clocks.Of, n: len(clocks.Domains), before: func(_ int, cause int64, _ int, effect int64) {
		violation = max(violation, float64(cause-effect))
	}}
	rounds := 0
	_, err := match.All(context.Background(), tr, clocks, v, func(c *match.Call) {
		if c.Location == 1 && c.Function.Name == "MPI_Recv" {
			truth := 1000*float64(rounds+1) - 1
			off = max(off, abs(float64(c.Enter)/tracetest.Unit-truth))
			rounds++
		}
	})
	require.NoError(t, err)
	return violation / tracetest.Unit, off
}

func abs(x float64) float64 { return max(x, -x) }

func TestDriftIsARate(t *testing.T) {
	for _, drift := range []float64{0, 5e-5, -2e-5, 4e-4} { // units per unit
		ahead := func(round int) float64 { return 300 + drift*1000*float64(round+1) }
		tr := timeline.Of(pingPong(100, ahead).Open(t))
		clocks, f, err := analyze(context.Background(), tr, nil)
		require.NoError(t, err)
		violation, off := worst(t, tr, clocks, ahead)
		assert.Zero(t, violation, "drift %v", drift)
		assert.Zero(t, f.Steps, "drift %v", drift)
		assert.Less(t, off, 0.02, "drift %v: half a message's time", drift)
		assert.InDelta(t, -drift, f.Domains[1].Rate, 3e-7, "drift %v", drift)
		require.NotNil(t, f.ErrorSeconds)
		assert.LessOrEqual(t, off/1000, *f.ErrorSeconds+1e-9, "the error that is told bounds the real one")
	}
}

func TestClockThatJumpsIsMovedInSteps(t *testing.T) {
	ahead := func(round int) float64 {
		if round < 50 {
			return 0
		}
		return -7 // set back in the middle of the run
	}
	tr := timeline.Of(pingPong(100, ahead).Open(t))
	clocks, f, err := analyze(context.Background(), tr, nil)
	require.NoError(t, err)
	violation, _ := worst(t, tr, clocks, ahead)
	assert.LessOrEqual(t, violation, float64(tolerance)/tracetest.Unit)
	assert.Positive(t, f.Steps)
	assert.InDelta(t, 0.0035, f.LargestStepSeconds, 0.0036, "no more than the jump")
}

func TestTimeNeverGoesBackward(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		k := timeline.Clock{Offset: random.Int64N(1e12), Rate: maxRate * (2*random.Float64() - 1)}
		at, shift := int64(0), int64(0)
		for range random.IntN(20) {
			wait := random.Int64N(1e9)
			shift = max(0, shift-int64(timeline.Decay*float64(wait))) + random.Int64N(1e6)
			at += wait
			k.Steps = append(k.Steps, timeline.Step{At: at, Shift: shift})
		}
		last := k.Time(-1000)
		for own := int64(-999); own < at+1e9; own += 1 + random.Int64N(1e7) {
			now := k.Time(own)
			require.GreaterOrEqual(t, now, last-1)
			last = now
		}
	}
}

func TestNoSpaceBetweenBoundsIsFoundByTheirRate(t *testing.T) {
	// x = 5 + 2e-5·t, bounds 1 away on either side
	var above, below []point
	for at := int64(0); at < 1e9; at += 1e7 {
		x := 5000 + at/50000
		above, below = append(above, point{at - x - 1000, at}), append(below, point{at, at + 1000 - x})
	}
	rate, width := line(above, below, 0)
	assert.InDelta(t, 2e-5, rate, 1e-9)
	assert.InDelta(t, 2000, width, 1)
	assert.Negative(t, room(above, below, 0, 0))
}

func TestSeriesKeepsTheTightestOfEachPart(t *testing.T) {
	var s series
	for at := int64(0); at < 1e9; at += 1000 {
		s.add(point{at - 100 - at%7, at})
	}
	s.add(point{1e8 - 3, 1e8})
	known := s.known()
	assert.LessOrEqual(t, len(known), parts)
	least := int64(unbounded)
	for _, p := range known {
		least = min(least, p.bound())
	}
	assert.EqualValues(t, 3, least)
}
