package causes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// unequalPair returns two ranks that compute before each of some collectives, rank 1 longer.
func unequalPair(times int, usual, longer float64) *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("p.c:1").Init(0, 1)
		now := 1.0
		for range times {
			r.At("p.c:2").Collective("MPI_Allreduce", now+usual+float64(i)*(longer-usual), now+longer+0.1)
			now += longer + 0.1
		}
		r.At("p.c:3").Finalize(now, now+1)
	})
	return b
}

// TestTwoRanksByChance: CPUs that others use, too, were 1.8 times as fast as each other for two
// seconds, and 1.25 times for ten (make bench-cpus).
func TestTwoRanksByChance(t *testing.T) {
	for _, c := range []struct {
		name          string
		times         int
		usual, longer float64
		blames        verdict.Kind
		chance        bool
	}{
		{"once, half a second", 1, 285, 440, verdict.Nobody, true},
		{"twice a quarter", 2, 160, 232, verdict.Nobody, true},
		{"a second, in small parts", 300, 2.5, 3.4, verdict.Nobody, true},
		{"once, twice as long", 1, 200, 440, verdict.Excess, false},
		{"once, for long", 1, 6000, 9300, verdict.Excess, false},
		{"for long, in small parts", 4000, 2.5, 3.4, verdict.Imbalance, false},
		{"for long, by little", 4000, 2.75, 3.4, verdict.Nobody, true},
		{"for long, by less", 4000, 2.9, 3.4, verdict.Nobody, false},
	} {
		v := judged(t, unequalPair(c.times, c.usual, c.longer))
		require.Equal(t, c.blames, v.Blames, "%s: %s", c.name, v.Text)
		const said = "One of the two computes longer, by no more than equal CPUs may differ."
		assert.Equal(t, c.chance, strings.Contains(v.Text, said), "%s: %s", c.name, v.Text)
	}
}
