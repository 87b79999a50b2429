package values

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/checkpoint"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// decodeRuns is an independent decoder of runs.
func decodeRuns(t *testing.T, runs []byte) (list []int64) {
	t.Helper()
	for len(runs) > 0 {
		v, n := binary.Varint(runs)
		require.Positive(t, n)
		more, m := binary.Uvarint(runs[n:])
		require.Positive(t, m)
		for range more + 1 {
			list = append(list, v)
		}
		runs = runs[n+m:]
	}
	return list
}

// A plainThread keeps every value of every stream.
type plainThread map[ID][]int64

func (p plainThread) push(terminal int32, streams [][]int64) {
	for i, values := range streams {
		id := ID{terminal, int32(i)}
		p[id] = append(p[id], values...)
	}
}

// require fails the test if the pieces that were taken and what is in memory are not the values.
func (p plainThread) require(t *testing.T, s *Streams, taken map[ID][]int64) {
	t.Helper()
	seen := 0
	for id, stream := range s.All() {
		seen++
		require.Equal(t, len(taken[id]), int(stream.InBlocks()))
		got := append(slices.Clone(taken[id]), decodeRuns(t, stream.Runs())...)
		require.Equal(t, p[id], got, "%v", id)
		require.Equal(t, len(got), int(stream.Len()))
	}
	require.Len(t, p, seen)
}

// A returningCall is a call of a terminal whose results are in its record, and those results.
type returningCall struct {
	words   []uint64
	streams [][]int64
}

// randomCall makes a call of a terminal: the form of its results depends on the terminal, and its
// values are mostly the same.
func randomCall(random *rand.Rand, terminal int32) returningCall {
	const width = 8
	c := returningCall{words: make([]uint64, width)}
	for i := range c.words {
		c.words[i] = uint64(random.IntN(10) / 9)
	}
	value := func(i int) int64 { return int64(c.words[i]) }
	status := func(i int) []int64 {
		// source, tag, error and cancelled are halves of words
		return []int64{value(i), 0, value(i + 1), 0, value(i + 2)}
	}
	switch terminal {
	case 0: // a word and a status
		c.streams = [][]int64{{value(0)}}
		for _, field := range status(1) {
			c.streams = append(c.streams, []int64{field})
		}
	case 1: // a list
		c.streams = [][]int64{{3, value(0), value(1), value(2)}}
	case 2: // a list of two statuses
		c.streams = [][]int64{append([]int64{10}, append(status(1), status(4)...)...)}
	}
	return c
}

var sourcesOf = func() []*Sources {
	all := []*Sources{{Flat: true}, {}, {}}
	all[0].Add(0, 1, Word)
	all[0].Add(1, 1, Statuses)
	all[1].Add(0, 3, List)
	all[2].Add(1, 2, StatusList)
	return all
}()

// Values come back whatever way they were given, through blocks and checkpoints.
func TestStreams(t *testing.T) {
	require.Equal(t, 3, record.StatusWords)
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 5))
			s, restored := &Streams{}, &Streams{}
			plain, taken := plainThread{}, map[ID][]int64{}
			last := map[int32]returningCall{} // by terminal, if the last call can be counted
			for step := range 3_000 {
				terminal := int32(random.IntN(len(sourcesOf)))
				from := sourcesOf[terminal]
				call := randomCall(random, terminal)
				before, countable := last[terminal]
				delete(last, terminal)
				switch random.IntN(5) {
				case 0:
					var c Call
					from.Read(&c, call.words)
					s.Push(terminal, &c)
				case 1:
					s.Read(terminal, from, call.words)
				case 2:
					if !countable {
						continue
					}
					n := 1 + random.IntN(5)
					require.True(t, s.IsSame(terminal, from, before.words))
					s.Count(terminal, uint64(n))
					for range n - 1 {
						plain.push(terminal, before.streams)
					}
					call, last[terminal] = before, before
				default:
					s.ReadAgain(terminal, from, call.words)
					if from.Flat {
						last[terminal] = call
					}
				}
				plain.push(terminal, call.streams)
				if step%200 == 0 {
					for _, p := range s.TakeLong(100) {
						require.Equal(t, len(taken[p.Of]), int(p.First))
						values := decodeRuns(t, p.Runs)
						require.Len(t, values, int(p.N))
						taken[p.Of] = append(taken[p.Of], values...)
					}
				}
				if step%300 == 0 {
					e := &checkpoint.Encoder{}
					s.Encode(e, step == 0)
					restored.Decode(&checkpoint.Decoder{Rest: e.Buffer}, len(sourcesOf))
				}
			}
			require.NotEmpty(t, taken)
			plain.require(t, s, taken)
			e := &checkpoint.Encoder{}
			s.Encode(e, false)
			d := &checkpoint.Decoder{Rest: e.Buffer}
			restored.Decode(d, len(sourcesOf))
			require.False(t, d.Failed)
			require.Empty(t, d.Rest)
			require.True(t, restored.Complete())
			plain.require(t, restored, taken)
		})
	}
}
