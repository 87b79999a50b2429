package codec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// someNumbers has runs, progressions and what is neither, of extreme values too.
func someNumbers(r *rand.Rand) []int64 {
	var values []int64
	for range r.IntN(6) {
		first, step := r.Int64N(100)-50, int64(0)
		switch r.IntN(4) {
		case 0:
			step = r.Int64N(9) - 4
		case 1:
			first, step = math.MaxInt64-3, math.MaxInt64/2
		case 2:
			for range r.IntN(12) {
				values = append(values, r.Int64N(4))
			}
		}
		for range r.IntN(12) {
			values = append(values, first)
			first += step
		}
	}
	return values
}

// However a list is made, it is the same in memory, and all ways to read it agree.
func TestNumbersAreAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		values := someNumbers(r)
		n := NewNumbers(values...)
		require.Equal(t, len(values), n.Len())
		require.Equal(t, values, n.Values(nil))
		lookup := n.Lookup()
		var ran []int64
		for run, count := range n.Runs() {
			for range count {
				ran = append(ran, run.First)
				run.First += run.Step
			}
		}
		require.Equal(t, values, ran)
		var again Numbers
		for run, count := range n.Runs() {
			again.PushRun(run.First, run.Step, count)
		}
		require.True(t, n.Equal(&again))
		d := Decoder{Rest: AppendSequence(nil, values)}
		read := d.Numbers(len(values))
		require.NoError(t, d.Err)
		require.Empty(t, d.Rest)
		require.True(t, n.Equal(&read))

		equal, within, increasing := true, true, true
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for i, v := range values {
			require.Equal(t, v, n.At(i))
			equal = equal && v == values[0]
			within = within && v >= -2 && v < 3
			increasing = increasing && (i == 0 || v > values[i-1])
			low, high = min(low, v), max(high, v)
		}
		constant, ok := n.Constant()
		require.Equal(t, equal && len(values) > 0, ok)
		if ok {
			require.Equal(t, values[0], constant)
		}
		if low > -1<<40 && high < 1<<40 { // sums that wrap around are in no range
			require.Equal(t, within, n.Within(-2, 3))
		}
		require.False(t, n.Within(-2, 3) && !within)
		if len(values) > 0 && low > -1<<40 && high < 1<<40 {
			require.True(t, n.Within(low, high+1))
			if low >= 0 && high < math.MaxInt32 {
				require.Equal(t, increasing, n.Increasing())
			}
		}
		if len(values) == 0 {
			continue
		}
		var places Numbers
		var picked []int64
		for range r.IntN(4) {
			at, step := r.IntN(len(values)), r.IntN(3)
			for ; at < len(values) && r.IntN(20) > 0; at += step {
				require.Equal(t, values[at], lookup(at))
				places.Push(int64(at))
				picked = append(picked, values[at])
				if step == 0 && r.IntN(4) == 0 {
					break
				}
			}
		}
		ran = nil
		for run, count := range n.RunsAt(&places) {
			for range count {
				ran = append(ran, run.First)
				run.First += run.Step
			}
		}
		require.Equal(t, picked, ran)
	}
}

// A million equal rows, or rows that grow with the rank, take no more memory than ten.
func TestNumbersOfARegularJob(t *testing.T) {
	var n Numbers
	for i := range int64(1 << 20) {
		n.Push(i / 64 % 2 * 7)
	}
	n.PushRun(5, 3, 1<<20)
	require.LessOrEqual(t, n.Bytes(), int64(numbersPieceBytes*(1<<14+1)))
	var m Numbers
	m.PushRun(0, 1, 1<<30)
	require.Equal(t, int64(numbersPieceBytes), m.Bytes())
}
