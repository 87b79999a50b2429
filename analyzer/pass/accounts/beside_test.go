package accounts_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Three threads of a rank make calls at random times. While the first one computes, at least one of
// the others is inside MPI as long as counting each unit of time says, clock readings in the
// computation or not.
func TestTimeInWhichOtherThreadsCall(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		const end = 2000
		var inside [3][end]bool
		b := tracetest.New(1)
		main := b.Rank(0).At("t.c:1").Init(0, 1)
		threads := []*tracetest.Rank{main, main.Thread(), main.Thread()}
		for k, thread := range threads {
			for now := 2 + r.IntN(100); now < end-200; {
				until := now + 1 + r.IntN(60)
				name, site := "MPI_Barrier", "t.c:2"
				if k == 0 && r.IntN(3) == 0 {
					name, site, until = "MPI_Wtime", "t.c:3", now // a query does not end a computation
				}
				args := tracetest.Args{}
				if name == "MPI_Barrier" {
					args["comm"] = "MPI_COMM_SELF"
				}
				thread.At(site).Call(name, float64(now), float64(until), args)
				for u := now; u < until; u++ {
					inside[k][u] = true
				}
				now = until + 1 + r.IntN(100)
			}
		}
		main.At("t.c:4").Finalize(end-1, end)
		beside := 0
		for u := 1; u < end-1; u++ {
			if !inside[0][u] && (inside[1][u] || inside[2][u]) {
				beside++
			}
		}
		a, err := pass.Find(t.Context(), timeline.Of(tracetest.Open(t, b.Content())), accounts.Pass)
		require.NoError(t, err)
		sum := int64(0)
		for what, tally := range a.Each[a.MainOf[0]].Tallies {
			assert.LessOrEqual(t, tally.Beside, tally.Ns)
			if what.Computes() {
				sum += tally.Beside
			}
		}
		assert.InDelta(t, float64(beside)*tracetest.Unit, float64(sum), 1)
	}
}
