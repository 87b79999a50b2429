package accounts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/blame"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestCopiesOfUnknownLines: without lines of the source, a loop of which the compiler made a copy
// for each of two branches is two regions, of which rank 1 executes one and the others the other.
// Nothing says that rank 1 is the only one that computes, nor without a difference that it is slow.
func TestCopiesOfUnknownLines(t *testing.T) {
	for name, slow := range map[string]float64{"slow": 12, "equal": 4} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(6)
			b.Ranks(func(rank int, r *tracetest.Rank) {
				r.At("before").Init(0, 1)
				site, takes := "copy", 4.0
				if rank == 1 {
					site, takes = "another copy", slow
				}
				end := 1.0
				for range 20 {
					r.At(site).Collective("MPI_Allreduce", end+takes, end+slow+0.01)
					end += slow + 0.01
				}
				r.At("after").Finalize(end, end+1)
			})
			v, err := pass.Find(t.Context(), timeline.Of(b.Open(t)), blame.Pass)
			require.NoError(t, err)
			text := v.Text
			if slow == 4 {
				assert.Equal(t, verdict.Nobody, v.Blames, text)
				return
			}
			assert.Equal(t, verdict.Excess, v.Blames, text)
			assert.Equal(t, new(1), v.Rank, text)
			assert.Contains(t, text, "it computes for 12 ms each time")
			assert.Contains(t, text, "the others for 4 ms")
		})
	}
}
