package codec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// decodeSequence reads what AppendSequence wrote, at most limit values, and returns the rest of b.
func decodeSequence(b []byte, limit int) (values []int64, rest []byte, err error) {
	d := Decoder{Rest: b}
	n := d.Uvarint()
	if n > uint64(max(limit, 0)) {
		return nil, nil, ErrMemory
	}
	d.Budget = NewBudget(sequenceMemory + 16*int64(n)) // for the grammar
	values = d.sequenceValues(n)
	return values, d.Rest, d.Err
}

// sequenceMemory is what the grammar of a sequence may need besides the values.
const sequenceMemory = 16 << 20

func TestSequenceSizes(t *testing.T) {
	ramp := make([]int64, 1000)
	floats := make([]int64, 1000)
	noise := make([]int64, 1000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range ramp {
		ramp[i] = int64(3 * i)
		floats[i] = int64(math.Float64bits(1e9 + float64(i)*0.37))
		noise[i] = int64(r.IntN(100))
	}
	for _, test := range []struct {
		name   string
		values []int64
		most   int // bytes
	}{
		{"empty", nil, 1},
		{"zeros", make([]int64, 1_000_000), 8},
		{"ramp", ramp, 8},
		{"noise below 64", noise, 1500},
		{"doubles close together", floats, 8000},
		{"extremes", []int64{math.MinInt64, math.MaxInt64, 0, math.MinInt64, -1}, 52},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := AppendSequence([]byte("x"), test.values)
			t.Logf("%d values, %d bytes", len(test.values), len(b)-1)
			require.LessOrEqual(t, len(b)-1, test.most)
			values, rest, err := decodeSequence(append(b[1:], "y"...), len(test.values))
			require.NoError(t, err)
			require.Equal(t, "y", string(rest))
			require.Equal(t, test.values, append([]int64(nil), values...))
		})
	}
}

func TestSequenceRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		var values []int64
		for range r.IntN(12) {
			v, step := r.Int64()>>r.IntN(63), int64(r.IntN(5)-2)
			for range r.IntN(300) {
				values = append(values, v)
				switch r.IntN(40) {
				case 0:
					v = r.Int64()
				case 1:
					step = r.Int64()
				}
				v += step
			}
		}
		b := AppendSequence(nil, values)
		got, rest, err := decodeSequence(b, len(values))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, values, append([]int64(nil), got...))
		// the same in small portions
		s := NewValueStream(b, nil)
		for i, want := range values {
			x, ok := s.Next()
			require.True(t, ok)
			require.Equal(t, want, x, "value %d", i)
		}
		_, ok := s.Next()
		require.False(t, ok)
	}
}

func TestSequenceLimit(t *testing.T) {
	b := AppendSequence(nil, make([]int64, 1000))
	_, _, err := decodeSequence(b, 999)
	require.Error(t, err)
	for n := range b {
		_, _, err := decodeSequence(b[:n], 1000)
		require.Error(t, err)
	}
}

// The columns of a grid of ranks are a few dozen bytes, whatever its size: ScalaTrace II's
// nested rank lists.
func TestSequenceOfNestedRuns(t *testing.T) {
	for _, n := range []int{64, 1024} {
		classes := make([]int64, 0, n*n)
		interior := make([]int64, 0, n*n)
		for i := range n {
			for j := range n {
				class := int64(4)
				switch {
				case i == 0 && j == 0:
					class = 0
				case i == 0:
					class = 1
				case j == 0:
					class = 2
				case i == n-1 || j == n-1:
					class = 3
				default:
					interior = append(interior, int64(i*n+j))
				}
				classes = append(classes, class)
			}
		}
		for _, values := range [][]int64{classes, interior} {
			b := AppendSequence(nil, values)
			require.Less(t, len(b), 50)
			got, rest, err := decodeSequence(b, len(values))
			require.NoError(t, err)
			require.Empty(t, rest)
			require.Equal(t, values, got)
		}
		t.Log(n, len(AppendSequence(nil, classes)), len(AppendSequence(nil, interior)))
	}
}
