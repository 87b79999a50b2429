package trace_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// What tracing took of each rank comes back, of those of which it is known, with and without the
// CPU time of the compressor.
func TestTracerUsageIsKept(t *testing.T) {
	for known := range 2 {
		keepsTracerUsage(t, known)
	}
}

func keepsTracerUsage(t *testing.T, known int) {
	random := rand.New(rand.NewPCG(3, 4))
	const ranks = 50
	want := make([]*trace.TracerUsage, ranks)
	b := tracetest.New(ranks)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		r.Finalize(5, 6)
		if random.IntN(4) > 0 {
			any := func() int64 { return random.Int64N(1 << random.IntN(45)) }
			want[i] = &trace.TracerUsage{
				Stalls: any(), StalledNS: any(), LongestStallNS: any(), MemoryBytes: any(), MostMemory: any(), MostSpool: any(), WrittenBytes: any(), CPUNS: any() * int64(known),
			}
		}
		r.Info().Tracer = want[i]
	})
	var file bytes.Buffer
	require.NoError(t, trace.Write(&file, b.Content()))
	read, err := trace.Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
	require.NoError(t, err)
	for i, rank := range read.Ranks().All() {
		if want[i] == nil {
			require.Nil(t, rank.Tracer)
			continue
		}
		got, n := rank.Tracer, want[i]
		for _, pair := range [][3]int64{
			{n.Stalls, got.Stalls, 0}, {n.StalledNS, got.StalledNS, 1 << 12}, {n.LongestStallNS, got.LongestStallNS, 1 << 12}, {n.MemoryBytes, got.MemoryBytes, 1 << 15},
			{n.MostMemory, got.MostMemory, 1 << 15}, {n.MostSpool, got.MostSpool, 1 << 15}, {n.WrittenBytes, got.WrittenBytes, 1 << 15}, {n.CPUNS, got.CPUNS, 1 << 12},
		} {
			require.InDelta(t, pair[0], pair[1], float64(pair[0]/100+pair[2]))
		}
	}
}
