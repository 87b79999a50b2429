package delays

import (
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/stretchr/testify/require"
)

// TestSpans: the activities between two times are those of a reference list by nanosecond, with
// waits that began before the latest spans, dropped spans, and times before and after all spans.
func TestSpans(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		p := past{most: 8, now: random.Int64N(20)}
		d := Delays{sums: make([]int64, 3)}
		first := p.now
		did := make([]int32, first, 400) // by nanosecond
		until := func(end int64, what int32) {
			p.until(end, what)
			for int64(len(did)) < end {
				did = append(did, what)
			}
		}
		for range 30 {
			if random.IntN(4) == 0 {
				begin := max(first, p.now-random.Int64N(6))
				p.wait(matching.Wait{Begin: begin, End: p.now + 3})
				did = did[:begin]
				until(begin+1+random.Int64N(4), waiting)
			}
			until(p.now+random.Int64N(5), random.Int32N(3))
			if random.IntN(8) == 0 {
				p.forget(p.now - 10)
			}
		}
		require.Equal(t, int64(len(did)), p.now)
		known := first
		if p.cut {
			known = p.start
		}
		for range 50 {
			from := known + random.Int64N(p.now-known+1)
			to := from + random.Int64N(p.now-from+10)
			clear(d.sums)
			d.touched = d.touched[:0]
			d.add(&p, from, to, 1)
			want := make([]int64, 3)
			for _, what := range did[from:min(to, p.now)] {
				if what != waiting {
					want[what]++
				}
			}
			require.Equal(t, want, d.sums, "seed %d: %d to %d", seed, from, to)
		}
	}
}
