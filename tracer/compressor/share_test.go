package compressor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Recorders that grow to what they may take, one at a time and never back, stay below what all may
// take together, but for what regular ones need. One that is alone gets all that a recorder gets.
func TestSharesOfMemory(t *testing.T) {
	require.Equal(t, mostRecorder, share(10<<20, 0))
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		has := make([]int, 1+random.IntN(128))
		may := make([]int, len(has))
		for range 20 * len(has) {
			i, others, total := random.IntN(len(has)), 0, 0
			for j := range may {
				if j != i {
					others += may[j]
				}
			}
			may[i] = max(has[i], share(has[i], others))
			require.GreaterOrEqual(t, may[i], leastRecorder)
			if has[i] = min(has[i]+random.IntN(1<<20), may[i]); random.IntN(1+i%5) == 0 {
				has[i] = may[i]
			}
			for j := range has {
				total += has[j]
			}
			require.LessOrEqual(t, total, Recorders+len(has)*leastRecorder)
		}
	}
}
