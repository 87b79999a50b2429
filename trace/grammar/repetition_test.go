package grammar

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Repeat is what appending the same terminals again is, as long as they are predicted.
func TestRepeatAppendsIterations(t *testing.T) {
	for name, body := range map[string][]int32{"one call": {3}, "a loop": {1, 2, 2, 4}} {
		t.Run(name, func(t *testing.T) {
			s, straight := NewSequitur(), NewSequitur()
			iterate := func(n int, of ...*Sequitur) {
				for range n {
					for _, terminal := range body {
						for _, to := range of {
							to.Append(terminal)
						}
					}
				}
			}
			_, ok := s.Since(s.Snapshot())
			require.False(t, ok, "nothing is predicted")
			iterate(3, s, straight)
			require.True(t, s.AtIterationStart())
			before := s.Snapshot()
			iterate(2, s, straight)
			repetition, ok := s.Since(before)
			require.True(t, ok)
			require.True(t, s.Repeat(repetition, 50))
			iterate(100, straight)
			require.Equal(t, straight.Grammar(), s.Grammar())
			require.Equal(t, straight.Len(), s.Len())

			if len(body) > 1 { // within an iteration
				s.Append(body[0])
				straight.Append(body[0])
				require.False(t, s.AtIterationStart())
				_, ok = s.Since(before)
				require.False(t, ok)
				require.False(t, s.Repeat(repetition, 1))
			}
			for _, to := range []*Sequitur{s, straight} { // a surprise, then the loop again
				to.Append(9)
				iterate(4, to)
			}
			_, ok = s.Since(before)
			require.False(t, ok)
			require.False(t, s.Repeat(repetition, 1))
			require.Equal(t, straight.Grammar(), s.Grammar())
			require.Equal(t, straight.Len(), s.Len())
			s.checkInvariants(t)
		})
	}
}
