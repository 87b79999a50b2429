package online

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPeriod(t *testing.T) {
	turn := func(p int, n int) (s []uint64) {
		for i := range n {
			s = append(s, uint64(i%p))
		}
		return s
	}
	for p := 1; p <= 60; p++ {
		require.Equal(t, p, period(turn(p, 256)))
		require.Equal(t, p, period(slices.Concat(turn(97, 50), turn(p, 206))))
		require.Equal(t, p, period(turn(p, 3*p)))
		require.Zero(t, period(turn(p, 3*p)[:max(0, min(2, p-1))]))
	}
	r := rand.New(rand.NewPCG(3, 3))
	var noise []uint64
	for range 256 {
		noise = append(noise, r.Uint64())
	}
	require.Zero(t, period(noise))
}

func TestModes(t *testing.T) {
	for _, text := range []string{"", "full", "clustered", "clustered arguments=ignored frames=3 wait=5"} {
		m, err := ParseMode(text)
		require.NoError(t, err)
		again, err := ParseMode(m.String())
		require.NoError(t, err)
		require.Equal(t, m, again)
	}
	for _, text := range []string{"half", "clustered frames=-1", "clustered wait=0", "clustered x", "full wait=3"} {
		_, err := ParseMode(text)
		require.Error(t, err, text)
	}
}
