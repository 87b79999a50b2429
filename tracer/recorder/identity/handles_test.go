package identity

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Handles that are created, used and freed at random have the ids of a plain implementation, also
// after a checkpoint. What Known returns changes only with the generation.
func TestHandles(t *testing.T) {
	const kind = mpi.KindDatatype
	named := []record.Constant{{Kind: "datatype", Name: "MPI_INT", Value: 1}}
	random := rand.New(rand.NewPCG(1, 2))
	o := New(named)
	plain := plainHandles{}
	for step := range 20_000 {
		raw := uint64(1 + random.IntN(40))
		was, wasKnown := o.Known(kind, raw)
		before := o.Generation()
		if random.IntN(2) == 0 {
			require.Equal(t, plain.create(raw), o.Create(kind, raw))
		} else {
			plain.free(raw)
			o.Free(kind, raw)
		}
		if is, known := o.Known(kind, raw); known != wasKnown || known && is != was {
			require.Greater(t, o.Generation(), before)
		}
		if step%1000 == 0 {
			o = resumed(t, o, named)
		}
	}
	require.NotEmpty(t, plain)
}

// resumed returns the objects that are restored from a checkpoint of o.
func resumed(t *testing.T, o *Objects, named []record.Constant) *Objects {
	e := &checkpoint.Encoder{}
	o.EncodeTables(e, true)
	o.VisitLive(checkpoint.Visitor{To: e})
	d := &checkpoint.Decoder{Rest: e.Buffer}
	again := New(named)
	again.DecodeTables(d)
	again.CompleteTables()
	again.VisitLive(checkpoint.Visitor{From: d})
	require.False(t, d.Failed)
	require.Empty(t, d.Rest)
	return again
}

// plainHandles has the ids and references of the live handles.
type plainHandles map[uint64]*[2]int32

func (h plainHandles) create(raw uint64) int32 {
	if raw == 1 {
		return -1 // MPI_INT
	}
	if h[raw] == nil {
		var taken []int32
		for _, v := range h {
			taken = append(taken, v[0])
		}
		id := int32(0)
		for slices.Contains(taken, id) {
			id++
		}
		h[raw] = &[2]int32{id, 0}
	}
	h[raw][1]++
	return h[raw][0]
}

func (h plainHandles) free(raw uint64) {
	if v := h[raw]; v != nil {
		if v[1]--; v[1] == 0 {
			delete(h, raw)
		}
	}
}

// A free list returns the smallest of the ids that it was given.
func TestFreeList(t *testing.T) {
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 7))
		most := []int{1, 64, 65, 5_000, 300_000, 1 << 25}[seed]
		var l freeList
		var free []int32 // sorted
		for range 20_000 {
			id := int32(random.IntN(most))
			if at, found := slices.BinarySearch(free, id); !found && random.IntN(100) < 55 {
				l.give(id)
				free = slices.Insert(free, at, id)
				continue
			}
			id, ok := l.take()
			require.Equal(t, len(free) > 0, ok)
			if ok {
				require.Equal(t, free[0], id)
				free = free[1:]
			}
		}
	}
}
