package accounts

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
)

// TestOnePathIsThePathInMemory: pieces that are merged as they come and read from the spool are the
// same as pieces kept in slices, sorted and merged.
func TestOnePathIsThePathInMemory(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	kinds := []Kind{Computation, Communication, Untraced}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		spool := eventlog.NewSpool(int64(seed%3) * 1000)
		limit := int64(1 + random.IntN(300))
		locations := 1 + random.IntN(5)
		each, plain := make([]Account, locations), make([][]Piece, locations)
		for i := range each {
			each[i].pieces = newPieceLog(spool, 1<<20, limit)
		}
		for at, n, location := int64(0), random.IntN(3000), 0; n > 0; n-- {
			if random.IntN(3) == 0 {
				location = random.IntN(locations)
			}
			p := Piece{Start: at, End: at + 1 + random.Int64N(1<<random.IntN(10)), Location: location, Kind: kinds[random.IntN(3)]}
			p.What.Site = uint32(random.IntN(3))
			at = p.End
			each[location].pieces.add(p)
			plain[location] = inMemory(plain[location], p, limit)
		}
		for i := range each {
			each[i].pieces.finish()
		}
		all := slices.Concat(plain...)
		slices.SortFunc(all, func(a, b Piece) int { return int(a.Start - b.Start) })
		var want []Piece
		for _, p := range all {
			if n := len(want); n == 0 || want[n-1].End != p.Start || !want[n-1].absorb(p, limit) {
				want = append(want, p)
			}
		}
		require.Equal(t, want, OnePath(each, limit))
		require.NoError(t, spool.Err())
		spool.Close()
	}
}

// inMemory appends a piece to those of a location.
func inMemory(list []Piece, p Piece, limit int64) []Piece {
	p.longest = p.End - p.Start
	if n := len(list); n > 0 && list[n-1].End == p.Start && list[n-1].absorb(p, limit) {
		return list
	}
	return append(list, p)
}
