package grammar

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// Between returns symbols that expand to the requested part of a sequence.
func TestBetweenIsThatPartOfTheSequence(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		s := NewSequitur()
		for range random.Intn(12) {
			for k, n := int32(random.Intn(3)), 1+random.Intn(9); n > 0; n-- {
				s.Append(k)
				s.Append(k + int32(n%2))
			}
		}
		g := s.Grammar()
		lengths, err := g.Lengths()
		require.NoError(t, err)
		all := g.Expand(0)
		from := random.Intn(len(all) + 1)
		to := from + random.Intn(len(all)-from+1)
		part := g.Between(0, uint64(from), uint64(to), lengths)
		wrapped := Grammar{Rules: make([][]Symbol, 1+len(g.Rules))}
		for i := range wrapped.Rules {
			for _, symbol := range append([][]Symbol{part}, g.Rules...)[i] {
				if symbol.IsRule() {
					symbol = RuleSymbol(symbol.Rule()+1, symbol.Count)
				}
				wrapped.Rules[i] = append(wrapped.Rules[i], symbol)
			}
		}
		require.Equal(t, append([]int32(nil), all[from:to]...), wrapped.Expand(0))
		counts := map[int32]uint64{}
		for _, terminal := range all[from:to] {
			counts[terminal]++
		}
		require.Equal(t, counts, g.CountsOf(part))
	}
}
