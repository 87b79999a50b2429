package key

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/tracer/recorder/callsite"
	"github.com/cairn-mpi/cairn/tracer/recorder/identity"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
	"github.com/cairn-mpi/cairn/tracer/recorder/values"
)

// recordsOf returns the records of a thread of a program.
func recordsOf(s *recordtest.Shim, thread uint32) (list []record.Record) {
	b := &record.Buffer{Words: s.Thread(thread).Words}
	var composer record.Composer
	for at := record.BufferHeaderWords; at < b.Available(); {
		rec, size := b.At(at, &composer)
		list = append(list, rec)
		at += size
	}
	return list
}

func newTable(p *record.Process) *Table {
	return New(p.Constants, identity.New(p.Constants), callsite.New(p))
}

// applyEffects does what the caller of Read must do with communicators.
func applyEffects(o *identity.Objects, c *Call) {
	switch c.Effect {
	case semantics.Initialize:
		c.Extras.Take(3) // rank, size, level of thread support
		o.Start(&c.Extras)
	case semantics.CommunicatorCreate:
		if instance, ok := o.AddCommunicator(c.Creation(), &c.Extras); ok {
			c.AddInstance(instance)
		}
	}
}

// reusingProgram makes n calls on handles that are freed and come again for other objects, on
// requests that share a handle, and on addresses.
func reusingProgram(s *recordtest.Shim, random *rand.Rand, n int) {
	pick := func(v ...int64) int64 { return v[random.IntN(len(v))] }
	datatypes, comm, rank := []int64{recordtest.TypeInt}, int64(recordtest.CommWorld), int64(0)
	for range n {
		switch random.IntN(6) {
		case 0:
			if len(datatypes) > 1 {
				s.Call(0, "MPI_Type_free", 0, datatypes[1], 0x0c000000)
				datatypes = append(datatypes[:1], datatypes[2:]...)
			} else {
				for _, raw := range [][]int64{{700, 701}, {701, 700}}[random.IntN(2)] {
					s.Call(0, "MPI_Type_contiguous", 0, 2, recordtest.TypeInt, raw)
					datatypes = append(datatypes, raw)
				}
			}
		case 1:
			if comm != recordtest.CommWorld {
				s.Call(0, "MPI_Comm_free", 0, comm, recordtest.CommNull)
				comm = recordtest.CommWorld
			} else {
				comm, rank = 800, int64(random.IntN(2))
				s.Call(0, "MPI_Comm_split", 0, recordtest.CommWorld, 0, rank, comm,
					recordtest.Description{Raw: comm, Own: rank, Size: 2, Group: recordtest.List{0, 1}})
			}
		case 2:
			s.Isend(pick(0, 1), 7, 900)
			s.Isend(pick(0, 1), 7, 900)
			s.Waitall(recordtest.List{900, 900})
		case 3:
			s.Call(0, "MPI_Gather", 0, pick(0, 0x10, 0x20), 1, recordtest.TypeInt, 0x30, 1, recordtest.TypeInt, pick(0, 1), comm)
		default:
			s.Call(0, "MPI_Send", 0, 0x10, 1, pick(datatypes...), 1, 7, recordtest.CommWorld)
		}
	}
}

// A record that matches the pattern of a call has the key of that call and the values that the
// pattern finds in it, whichever of its words was changed.
func TestMatchesHaveTheKey(t *testing.T) {
	matched, creating := 0, 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 3))
			s := recordtest.NewShim(t)
			if seed%2 == 0 {
				s.RandomProgram(random, 400)
			} else {
				s.Init(0, 4)
				reusingProgram(s, random, 400)
			}
			table := newTable(s.Process)
			var patterns []*Pattern
			for _, rec := range recordsOf(s, 0) {
				if random.IntN(3) == 0 { // as a handle, a rank or a size of another call
					rec.Words = slices.Clone(rec.Words)
					at := record.AddressWord + random.IntN(len(rec.Words)-record.AddressWord)
					rec.Words[at] = []uint64{0, 1, 2, 3, rec.Words[at] + 1, recordtest.CommSelf}[random.IntN(6)]
				}
				var matching []*Pattern
				for _, p := range patterns {
					if p.First == rec.Words[record.LengthWord] && table.Matches(p, 0, rec.Words, false) {
						matching = append(matching, p)
					}
				}
				era := table.Era()
				c := table.Read(0, rec, false)
				applyEffects(table.objects, c)
				table.Number(c)
				if table.Era() != era {
					patterns = nil
				}
				for _, p := range matching {
					matched++
					require.Equal(t, p.creator, c.creator)
					if p.creator == none {
						require.Equal(t, p.terminal, c.Terminal)
					} else {
						creating++
					}
					var v values.Call
					p.Values.Read(&v, rec.Words)
					require.ElementsMatch(t, c.Values.Values, v.Values)
					require.ElementsMatch(t, c.Values.Lengths, v.Lengths)
				}
				if len(matching) == 0 {
					if p := table.Pattern(c); p != nil {
						patterns = append(patterns, p)
					}
				}
			}
		})
	}
	require.Greater(t, matched, 2000)
	require.Greater(t, creating, 200)
}
