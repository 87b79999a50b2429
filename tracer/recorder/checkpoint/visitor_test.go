package checkpoint_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
)

type state struct {
	Count  uint64
	Thread uint32
	Ticks  int64
	Flag   bool
	Bytes  []byte
	Notes  []string
	Nested []state
}

func (s *state) visit(v checkpoint.Visitor) {
	checkpoint.Uint(v, &s.Count)
	checkpoint.Uint(v, &s.Thread)
	checkpoint.Int(v, &s.Ticks)
	v.Bool(&s.Flag)
	v.Bytes(&s.Bytes)
	checkpoint.List(v, &s.Notes, v.Text)
	checkpoint.List(v, &s.Nested, func(n *state) { n.visit(v) })
}

func randomState(rng *rand.Rand, depth int) state {
	s := state{Count: rng.Uint64() >> rng.IntN(64), Thread: rng.Uint32(), Ticks: int64(rng.Uint64()), Flag: rng.IntN(2) == 0}
	s.Bytes = []byte{}
	for range rng.IntN(4) {
		s.Bytes = append(s.Bytes, byte(rng.Uint32()))
		s.Notes = append(s.Notes, string(s.Bytes))
	}
	for range rng.IntN(3) * depth {
		s.Nested = append(s.Nested, randomState(rng, depth-1))
	}
	return s
}

// What is read is what was written, and owns its memory. Every truncated input is malformed.
func TestVisitorReadsWhatItWrote(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		want := randomState(rng, 2)
		var e checkpoint.Encoder
		want.visit(checkpoint.Visitor{To: &e})

		var got state
		d := checkpoint.Decoder{Rest: e.Buffer}
		got.visit(checkpoint.Visitor{From: &d})
		require.False(t, d.Failed, "seed %d", seed)
		require.Empty(t, d.Rest, "seed %d", seed)

		cut := checkpoint.Decoder{Rest: e.Buffer[:rng.IntN(len(e.Buffer))]}
		new(state).visit(checkpoint.Visitor{From: &cut})
		require.True(t, cut.Failed, "seed %d", seed)

		clear(e.Buffer)
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// A check fails only what is read.
func TestVisitorChecks(t *testing.T) {
	checkpoint.Visitor{To: &checkpoint.Encoder{}}.Check(false)
	d := checkpoint.Decoder{Rest: []byte{1}}
	v := checkpoint.Visitor{From: &d}
	v.Check(true)
	require.False(t, d.Failed)
	v.Check(false)
	require.True(t, d.Failed)
}

// Nothing is read after a failure, however many elements a list says it has.
func TestVisitorStopsAtAFailure(t *testing.T) {
	e := checkpoint.Encoder{}
	e.Uint(50)
	e.Buffer = append(e.Buffer, make([]byte, 50)...)
	d := checkpoint.Decoder{Rest: e.Buffer}
	v, list := checkpoint.Visitor{From: &d}, []uint64{}
	checkpoint.List(v, &list, func(x *uint64) { checkpoint.Uint(v, x); v.Check(len(list) < 3) })
	require.Len(t, list, 3)
	require.True(t, d.Failed)
}
