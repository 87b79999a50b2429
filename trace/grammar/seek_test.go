package grammar

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// Nth and Each find what a search of the expansion finds, and Each stops when it is told to.
func TestFinderFindsTheTerminalsOfTheExpansion(t *testing.T) {
	type call struct {
		terminal int32
		index    uint64
	}
	for seed := range 30 {
		r := rand.New(rand.NewPCG(uint64(seed), 4))
		s := NewSequitur()
		all := sequences(r)
		all = all[:min(len(all), 500)]
		for _, terminal := range all {
			s.Append(terminal)
		}
		g := s.Grammar()
		lengths, err := g.Lengths()
		require.NoError(t, err)
		rare := r.Int32N(8)
		wanted := func(terminal int32) bool { return terminal == rare || terminal == 7 }
		f := NewFinder(g, lengths, wanted)

		var found []call
		for i, terminal := range all {
			if wanted(terminal) {
				index, ok := f.Nth(0, uint64(len(found)))
				require.True(t, ok)
				require.Equal(t, uint64(i), index)
				found = append(found, call{terminal, uint64(i)})
			}
		}
		_, ok := f.Nth(0, uint64(len(found)))
		require.False(t, ok, "there are no more")

		for range 10 {
			before := uint64(r.IntN(len(all) + 1))
			want := found
			for len(want) > 0 && want[len(want)-1].index >= before {
				want = want[:len(want)-1]
			}
			visits := r.IntN(len(want) + 1) // the visit after these stops
			var got []call
			whole := f.Each(0, 0, before, func(terminal int32, index uint64) bool {
				got = append(got, call{terminal, index})
				return len(got) <= visits
			})
			require.Empty(t, cmp.Diff(want[:min(visits+1, len(want))], got, cmpopts.EquateEmpty(), cmp.AllowUnexported(call{})))
			require.Equal(t, visits == len(want), whole)
		}
	}
}
