package codec

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Columns of measurements are restored, however they are grouped and whatever their values.
func TestMeasuredColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for range 500 {
		n := random.IntN(60)
		groups, values := make([]int64, n), make([]int64, n)
		kinds := 1 + random.Int64N(5)
		for i := range groups {
			groups[i] = random.Int64N(kinds)
			values[i] = random.Int64N(1<<random.IntN(50)) - random.Int64N(1<<random.IntN(10))
		}
		list := NewNumbers(values...)
		g := GroupRows(groups)
		s := NewSectionWriter()
		s.Measured(&list, &g)
		d := &Decoder{Rest: s.Body, Budget: NewBudget(1 << 20)}
		read := d.Grouping(n, func() []int64 { return groups })
		got := d.Measured(read, -1<<62, 1<<62)
		require.NoError(t, d.Err)
		require.Empty(t, d.Rest)
		require.Equal(t, values, append([]int64{}, got.Values(nil)...))
		if n > 0 {
			d = &Decoder{Rest: s.Body, Budget: NewBudget(1 << 20)}
			d.Measured(&g, 1<<62, 1<<63-1)
			require.Error(t, d.Err, "out of range")
		}
	}
}

// Rows of a group stand together, groups by their first rows.
func TestGroupRows(t *testing.T) {
	g := GroupRows([]int64{7, 3, 7, 9, 3})
	require.Equal(t, []int32{0, 2, 1, 4, 3}, g.order)
	require.Equal(t, []int{2, 4, 5}, g.ends)
	expected, tell := g.expect()
	for i, step := range [][2]int64{{0, 10}, {10, 13}, {11, 100}, {100, 103}, {101, -5}} {
		require.Equal(t, step[0], expected(), i)
		tell(step[1])
	}
	require.EqualValues(t, -5, expected())
}
