package criticalpath

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
)

// TestStretchesComeBackInOrderOfTime: what the walk found backward, neighbors put together, in memory and in the file.
func TestStretchesComeBackInOrderOfTime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		spool := journal.NewSpool(int64(seed%3) * 1000)
		log := newStretchLog(spool, 1<<20)
		var want []stretch
		ns, gaps := int64(0), 0
		for at, n := int64(1)<<40, random.IntN(3000); n > 0; n-- {
			if random.IntN(3) > 0 {
				at -= random.Int64N(1 << random.IntN(30))
			}
			s := stretch{at - 1 - random.Int64N(1<<random.IntN(30)), at}
			at, ns = s.start, ns+s.end-s.start
			if k := len(want); k > 0 && want[k-1].start == s.end {
				want[k-1].start = s.start
			} else {
				want, gaps = append(want, s), gaps+1
			}
			if log.add(s) {
				gaps--
			}
		}
		log.finish()
		slices.Reverse(want)
		var got []stretch
		r := log.forward()
		for s := r.peek(); s != nil; s = r.peek() {
			got = append(got, *s)
			r.next++
		}
		require.Equal(t, want, got)
		require.Zero(t, gaps)
		require.Equal(t, ns, log.ns)
		require.NoError(t, spool.Err())
		spool.Close()
	}
}

// TestOnePathIsThePathInMemory: pieces of all locations, put together as they come and read from the spool, are the same
// as those kept in slices, sorted, and put together.
func TestOnePathIsThePathInMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	kinds := []accounts.Kind{accounts.Computation, accounts.Communication, accounts.Untraced}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		spool := journal.NewSpool(int64(seed%3) * 1000)
		limit := int64(1 + random.IntN(300))
		locations := 1 + random.IntN(5)
		accounts, plain := make([]account, locations), make([][]piece, locations)
		for i := range accounts {
			accounts[i].pieces = newPieceLog(spool, 1<<20, limit)
		}
		for at, n, location := int64(0), random.IntN(3000), 0; n > 0; n-- {
			if random.IntN(3) == 0 {
				location = random.IntN(locations)
			}
			p := piece{start: at, end: at + 1 + random.Int64N(1<<random.IntN(10)), location: location, kind: kinds[random.IntN(3)]}
			p.what.site = uint32(random.IntN(3))
			at = p.end
			accounts[location].pieces.add(p)
			plain[location] = inMemory(plain[location], p, limit)
		}
		for i := range accounts {
			accounts[i].pieces.finish()
		}
		all := slices.Concat(plain...)
		slices.SortFunc(all, func(a, b piece) int { return int(a.start - b.start) })
		var want []piece
		for _, p := range all {
			if n := len(want); n == 0 || want[n-1].end != p.start || !want[n-1].absorb(p, limit) {
				want = append(want, p)
			}
		}
		require.Equal(t, want, onePath(accounts, limit))
		require.NoError(t, spool.Err())
		spool.Close()
	}
}

// inMemory appends a piece to those of a location.
func inMemory(list []piece, p piece, limit int64) []piece {
	p.longest = p.end - p.start
	if n := len(list); n > 0 && list[n-1].end == p.start && list[n-1].absorb(p, limit) {
		return list
	}
	return append(list, p)
}

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
