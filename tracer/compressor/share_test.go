package compressor

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Recorders that use what they may stay below what all may take together, however many there are and
// whatever each has; a regular one is never in need; one that is alone has all that a recorder gets.
func TestSharesOfMemory(t *testing.T) {
	require.Equal(t, mostRecorder, shareOf([]int{10 << 20}))
	random := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		memory := make([]int, 1+random.IntN(128))
		for i := range memory {
			memory[i] = random.IntN(leastRecorder)
			if random.IntN(1+i%5) == 0 {
				memory[i] = random.IntN(mostRecorder)
			}
		}
		share := shareOf(memory)
		require.GreaterOrEqual(t, share, leastRecorder)
		require.LessOrEqual(t, share, mostRecorder)
		total := 0
		for _, has := range memory {
			total += min(max(has, leastRecorder), share) // nobody grows beyond the share
		}
		require.LessOrEqual(t, total, max(recorders, len(memory)*leastRecorder))
	}
}
