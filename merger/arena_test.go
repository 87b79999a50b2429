package merger

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

// Copies share no memory with what is copied or with each other, whatever is appended to them,
// until they are taken back.
func TestArena(t *testing.T) {
	for _, size := range []int{0, 4, 64} {
		random := rand.New(rand.NewPCG(uint64(size), 0))
		a := arena{size: size}
		for range 20 {
			var copies, expected [][]trace.Value
			for range 50 {
				list := slices.Repeat([]trace.Value{{Form: trace.Int, Int: random.Int64()}}, random.IntN(10))
				expected = append(expected, slices.Clone(list))
				copies = append(copies, a.clone(list))
				clear(list)
				_ = append(copies[random.IntN(len(copies))], trace.Value{Form: trace.Null})
			}
			for i := range copies {
				require.True(t, slices.EqualFunc(expected[i], copies[i], equalValues), "size %d", size)
			}
			a.reset()
		}
	}
}

// A signature that has not as many variables as its family has no streams.
func TestSignatureThatFitsNoFamily(t *testing.T) {
	f := &trace.Function{Parameters: []trace.Parameter{{Kind: "int"}, {Kind: "request"}}}
	s := trace.Signature{In: []trace.Value{{Form: trace.Int, Int: 7}, {Form: trace.Handle, Int: 1}}}
	for variables := range 5 {
		streams := make([]*madeStream, variables)
		for k := range streams {
			streams[k] = &madeStream{number: int32(k)}
		}
		with, fits := withStreams(s, f, streams)
		require.Equal(t, variables == 2, fits, "%d variables", variables)
		if fits {
			require.Equal(t, []trace.Value{{Form: trace.Stream, Int: 0}, {Form: trace.Stream, Int: 1}}, with.In)
		}
	}
}
