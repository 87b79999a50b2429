package compressor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Recorders that grow to what they may take, one at a time and never back, stay below what all may
// take together, but for what regular ones need. While there are few, each gets all that a recorder
// gets at once.
func TestSharesOfMemory(t *testing.T) {
	for processes := 1; processes <= Recorders/mostRecorder; processes++ {
		require.Equal(t, mostRecorder, share(0, (processes-1)*mostRecorder, processes))
	}
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
			may[i] = max(has[i], share(has[i], others, len(has)))
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
