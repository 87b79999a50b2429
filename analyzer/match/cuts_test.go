package match

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAroundRandomCuts: the part around two times begins with the last cut that is before the
// first time, with all calls before it, and ends with the first cut at or after the second time.
func TestAroundRandomCuts(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for range 2000 {
		cuts := make([]Cut, random.IntN(6))
		for i, at := 0, int64(1); i < len(cuts); i++ {
			at += 1 + random.Int64N(5)
			cuts[i] = Cut{At: at, Until: at - 2 + random.Int64N(4)}
			if i > 0 {
				cuts[i].Until = max(cuts[i].Until, cuts[i-1].Until)
			}
		}
		from := random.Int64N(30)
		to := from + random.Int64N(10)
		var wantBegin, wantEnd int64
		for i := range cuts {
			if cuts[i].Until <= from && cuts[i].At <= from {
				wantBegin = cuts[i].At
			}
			if cuts[i].At >= to && wantEnd == 0 {
				wantEnd = cuts[i].At
			}
		}
		begin, end := Around(cuts, from, to)
		require.Equal(t, wantBegin, begin, "%v from %d", cuts, from)
		require.Equal(t, wantEnd, end, "%v to %d", cuts, to)
	}
}

// TestCutsAreAtEqualDistances: of many quiescent points, one after each barrier, those are kept
// that have about equal distances, however many ranks call the barrier.
func TestCutsAreAtEqualDistances(t *testing.T) {
	for _, ranks := range []uint64{1, 2, 100} {
		for _, barriers := range []int64{100, 3000, 20_000} {
			k := new(Cuts)
			for i := range barriers {
				k.passed(ranks, 10*i, 10*i+5)
				if k.quiet = k.calls >= k.next; k.quiet {
					k.note(10 * (i + 1))
				}
			}
			list := k.List()
			require.Less(t, len(list), maxCuts)
			require.GreaterOrEqual(t, len(list), min(maxCuts/4, int(barriers)))
			least, most := 10*barriers, int64(0)
			for i, before := 0, int64(1); i < len(list); i++ {
				require.Equal(t, list[i].At+4, list[i].Until, "the barrier before was entered 1 before and left 4 after")
				if i > 0 {
					least, most = min(least, list[i].At-before), max(most, list[i].At-before)
				}
				before = list[i].At
			}
			assert.LessOrEqual(t, most, 4*least, "%d ranks, %d barriers", ranks, barriers)
		}
	}
}
