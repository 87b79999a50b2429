package criticalpath

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/journal"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
)

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
		each, plain := make([]account, locations), make([][]piece, locations)
		for i := range each {
			each[i].pieces = newPieceLog(spool, 1<<20, limit)
		}
		for at, n, location := int64(0), random.IntN(3000), 0; n > 0; n-- {
			if random.IntN(3) == 0 {
				location = random.IntN(locations)
			}
			p := piece{start: at, end: at + 1 + random.Int64N(1<<random.IntN(10)), location: location, kind: kinds[random.IntN(3)]}
			p.what.site = uint32(random.IntN(3))
			at = p.end
			each[location].pieces.add(p)
			plain[location] = inMemory(plain[location], p, limit)
		}
		for i := range each {
			each[i].pieces.finish()
		}
		all := slices.Concat(plain...)
		slices.SortFunc(all, func(a, b piece) int { return int(a.start - b.start) })
		var want []piece
		for _, p := range all {
			if n := len(want); n == 0 || want[n-1].end != p.start || !want[n-1].absorb(p, limit) {
				want = append(want, p)
			}
		}
		require.Equal(t, want, onePath(each, limit))
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
