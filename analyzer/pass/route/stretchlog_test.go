package route

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
)

// TestStretchesComeBackInOrderOfTime: stretches added backward, with neighbors merged, are read
// forward, from memory and from the file.
func TestStretchesComeBackInOrderOfTime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		spool := eventlog.NewSpool(int64(seed%3) * 1000)
		log := newStretchLog(spool, 1<<20)
		var want []Stretch
		ns, gaps := int64(0), 0
		for at, n := int64(1)<<40, random.IntN(3000); n > 0; n-- {
			if random.IntN(3) > 0 {
				at -= random.Int64N(1 << random.IntN(30))
			}
			s := Stretch{at - 1 - random.Int64N(1<<random.IntN(30)), at}
			at, ns = s.Start, ns+s.End-s.Start
			if k := len(want); k > 0 && want[k-1].Start == s.End {
				want[k-1].Start = s.Start
			} else {
				want, gaps = append(want, s), gaps+1
			}
			if log.add(s) {
				gaps--
			}
		}
		log.finish()
		slices.Reverse(want)
		var got []Stretch
		r := log.Forward()
		for s := r.Peek(); s != nil; s = r.Peek() {
			got = append(got, *s)
			r.Next++
		}
		require.Equal(t, want, got)
		require.Zero(t, gaps)
		require.Equal(t, ns, log.ns)
		require.NoError(t, spool.Err())
		spool.Close()
	}
}
