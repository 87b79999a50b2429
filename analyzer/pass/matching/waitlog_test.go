package matching

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// TestWaitsComeBackBothWays: a log reads the same waits forward and backward, from memory and from
// the file.
func TestWaitsComeBackBothWays(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		spool := eventlog.NewSpool(int64(seed%3) * 1000)
		log := newWaitLog(spool, 1<<20)
		var want []Wait
		at := int64(-1000)
		for range random.IntN(3000) {
			w := Wait{Begin: at + random.Int64N(1<<random.IntN(30)), Cause: random.Int32N(1 << 20), Kind: waitstate.Kind(random.IntN(int(waitstate.NumKinds)))}
			w.End = w.Begin + random.Int64N(1<<random.IntN(30))
			if w.Came = w.End; random.IntN(4) == 0 {
				w.Came += random.Int64N(100)
			}
			at = w.End
			log.add(w)
			want = append(want, w)
		}
		log.close()
		var got []Wait
		forward := ForwardWaits{Log: &log}
		for w := forward.Peek(); w != nil; w = forward.Peek() {
			got = append(got, *w)
			forward.Next++
		}
		require.Equal(t, want, got)
		got = nil
		backward := log.Backward()
		for w := backward.Before(1 << 60); w != nil; w = backward.Before(1 << 60) {
			got = append(got, *w)
		}
		slices.Reverse(got)
		require.Equal(t, want, got)
		require.NoError(t, spool.Err())
		spool.Close()
	}
}
