package criticalpath

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// TestWaitsComeBackBothWays: forward and backward, in memory and in the file.
func TestWaitsComeBackBothWays(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		spool := journal.NewSpool(int64(seed%3) * 1000)
		log := newWaitLog(spool, 1<<20)
		var want []wait
		at := int64(-1000)
		for range random.IntN(3000) {
			w := wait{begin: at + random.Int64N(1<<random.IntN(30)), cause: random.Int32N(1 << 20), kind: waitstate.Kind(random.IntN(int(waitstate.NumKinds)))}
			w.end = w.begin + random.Int64N(1<<random.IntN(30))
			if w.came = w.end; random.IntN(4) == 0 {
				w.came += random.Int64N(100)
			}
			at = w.end
			log.add(w)
			want = append(want, w)
		}
		log.close()
		var got []wait
		forward := forwardWaits{log: &log}
		for w := forward.peek(); w != nil; w = forward.peek() {
			got = append(got, *w)
			forward.next++
		}
		require.Equal(t, want, got)
		got = nil
		backward := log.backward()
		for w := backward.before(1 << 60); w != nil; w = backward.before(1 << 60) {
			got = append(got, *w)
		}
		slices.Reverse(got)
		require.Equal(t, want, got)
		require.NoError(t, spool.Err())
		spool.Close()
	}
}
