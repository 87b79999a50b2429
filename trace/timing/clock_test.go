package timing

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMonotonicClockIsTheIdentity(t *testing.T) {
	m := NewClockMap(&Clock{Kind: "monotonic", Samples: []ClockSample{{1, 100, 0}, {2, 300, 0}}})
	require.Equal(t, int64(-5), m.Nanoseconds(-5))
	require.Equal(t, int64(math.MaxInt64), m.Nanoseconds(math.MaxInt64))
}

func TestTicksFollowTheSamples(t *testing.T) {
	c := &Clock{Kind: "tsc", Samples: []ClockSample{{1000, 500, 0}, {3000, 1500, 0}, {4000, 2500, 0}}}
	m := NewClockMap(c)
	for _, test := range []struct{ ticks, want int64 }{
		{1000, 500}, {1001, 500}, {1002, 501}, {2999, 1499}, {3000, 1500}, {3500, 2000}, {4000, 2500},
		// beyond the ends: 2000 ns in 3000 ticks
		{4003, 2502}, {7000, 4500}, {997, 498}, {998, 498}, {999, 499}, {-2000, -1500},
		{3500, 2000}, {1002, 501}, // and back
	} {
		require.Equal(t, test.want, m.Nanoseconds(test.ticks), "ticks %d", test.ticks)
	}
}

// The result is the exact one rounded down, also where products do not fit into 64 bits, and
// never goes back.
func TestTicksExactly(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		c := &Clock{Kind: "tsc"}
		s := ClockSample{r.Int64N(1 << 60), r.Int64N(1 << 50), 0}
		for range 2 + r.IntN(5) {
			c.Samples = append(c.Samples, s)
			s.Ticks += 1 + r.Int64N(1<<50)>>r.IntN(50)
			s.MonotonicNS += r.Int64N(1<<50) >> r.IntN(50)
		}
		m := NewClockMap(c)
		before := int64(math.MinInt64)
		at := c.Samples[0].Ticks
		last := c.Samples[len(c.Samples)-1].Ticks
		for at < last {
			got := m.Nanoseconds(at)
			require.GreaterOrEqual(t, got, before)
			before = got
			k := 0
			for c.Samples[k+1].Ticks <= at {
				k++
			}
			a, b := c.Samples[k], c.Samples[k+1]
			want := new(big.Int).Mul(big.NewInt(at-a.Ticks), big.NewInt(b.MonotonicNS-a.MonotonicNS))
			want.Div(want, big.NewInt(b.Ticks-a.Ticks))
			require.Equal(t, a.MonotonicNS+want.Int64(), got)
			at += 1 + r.Int64N(1+(last-c.Samples[0].Ticks)/20)
		}
	}
}

func TestClocksThatAreNoUse(t *testing.T) {
	m := NewClockMap(&Clock{Kind: "tsc"})
	require.Equal(t, int64(7), m.Nanoseconds(7))
	m = NewClockMap(&Clock{Kind: "tsc", Samples: []ClockSample{{100, 1000, 0}, {100, 1001, 0}, {90, 2000, 0}}})
	require.Equal(t, int64(1007), m.Nanoseconds(107), "one sample: a tick is a nanosecond")
	m = NewClockMap(&Clock{Kind: "tsc", Samples: []ClockSample{{0, 0, 0}, {1, math.MaxInt64, 0}}})
	require.Equal(t, int64(math.MaxInt64), m.Nanoseconds(math.MaxInt64))
	require.Equal(t, int64(math.MinInt64), m.Nanoseconds(math.MinInt64))
}
