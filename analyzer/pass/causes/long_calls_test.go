package causes_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Random programs whose collectives or messages take little time but for a few: the first ones, a
// single one, some. These are the cause, and what they take longer is its gain. If all take long,
// or every so many, they are many calls as before.
func TestLongCalls(t *testing.T) {
	for form, c := range map[verdict.Form]struct {
		choose func(random *rand.Rand, n int) map[int]bool
		text   string
	}{
		verdict.WarmUp: {func(random *rand.Rand, _ int) map[int]bool {
			return numbers(0, 1+random.IntN(3))
		}, `^A slow start makes this job slow: the first( \d)? of \d+ calls of MPI_\w+ at l.c:\d takes? \d+(\.\d)? m?s( each)?( on rank \d+ \([^)]*\))?, later ones (take )?[56]\d(\.\d)? µs\. Without`},
		verdict.Once: {func(random *rand.Rand, n int) map[int]bool {
			return numbers(10+random.IntN(n-20), 1)
		}, `^A single long call makes this job slow: the \d+(st|nd|rd|th) of \d+ calls of MPI_\w+ at l.c:\d takes \d+(\.\d)? m?s( on rank \d+ \([^)]*\))?, the others take [56]\d(\.\d)? µs\. Without`},
		verdict.Sometimes: {func(random *rand.Rand, n int) map[int]bool {
			long := map[int]bool{}
			for _, i := range random.Perm(n - 10)[:2+random.IntN(n/40)] {
				long[i+10] = true
			}
			return long
		}, `^A few long calls make this job slow: \d+ of [\d,]+ calls of MPI_\w+ at l.c:\d take \d+(\.\d)? m?s each, the others [56]\d(\.\d)? µs\. Without`},
		verdict.NoForm: {func(random *rand.Rand, n int) map[int]bool {
			long, every := map[int]bool{}, 1+random.IntN(5)
			for i := every - 1; i < n; i += every {
				long[i] = true
			}
			return long
		}, `^Many (collectives|small messages) make this job slow`},
	} {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(form, " ", seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 35))
				n, messages := 100+random.IntN(300), random.IntN(2) == 0
				long := c.choose(random, n)
				ms := (200 + 800*random.Float64()) / float64(len(long))
				if form == verdict.NoForm {
					ms = 0.7 + 0.25*random.Float64()
				}
				v := find(t, withCalls(n, messages, func(i int) float64 {
					if long[i] {
						return ms
					}
					return 0.05 + 0.01*float64(i%2)
				}).Content()).Verdict
				want := verdict.Collectives
				if messages {
					want = verdict.Messages
				}
				require.Equal(t, want, v.Blames, v.Text)
				assert.Regexp(t, c.text, v.Text)
				if form != verdict.NoForm {
					assert.Equal(t, form, v.Causes[0].Form)
					assert.InEpsilon(t, float64(len(long))*ms/1e3, *v.GainSeconds, 0.05, v.Text)
				}
			})
		}
	}
}

// numbers returns n numbers from first on.
func numbers(first, n int) map[int]bool {
	set := map[int]bool{}
	for i := range n {
		set[first+i] = true
	}
	return set
}

// withCalls returns the trace of two ranks that compute alike, and whose calls take some time.
func withCalls(n int, messages bool, ms func(i int) float64) *tracetest.Builder {
	b := tracetest.New(2)
	b.Ranks(func(rank int, r *tracetest.Rank) {
		r.At("l.c:1").Init(0, 1)
		now := 1.0
		for i := range n {
			enter, exit := now+1, now+1+ms(i)
			switch now = exit; {
			case !messages:
				r.At("l.c:2").Collective("MPI_Allreduce", enter, exit)
			case rank == 0:
				r.At("l.c:3").Send(enter, exit, 1)
			default:
				r.At("l.c:4").Recv(enter, exit, 0, 100)
			}
		}
		r.At("l.c:5").Finalize(now, now+1)
	})
	return b
}
