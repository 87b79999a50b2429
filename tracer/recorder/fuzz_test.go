package recorder

import (
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Any bytes as a buffer yield calls, or notes on what was wrong.
func FuzzBuffer(f *testing.F) {
	s := recordtest.NewShim(f)
	s.RandomProgram(rand.New(rand.NewPCG(3, 1)), 60)
	f.Add(record.BytesOf(s.Threads[0].Words[record.BufferHeaderWords:]))
	f.Add(record.BytesOf(s.Threads[1].Words[record.BufferHeaderWords:]))
	f.Add(record.BytesOf(s.Threads[0].Words[record.BufferHeaderWords : record.BufferHeaderWords+40]))
	short, _ := recordtest.Shorten(rand.New(rand.NewPCG(3, 2)), s.Threads[0].Words)
	f.Add(record.BytesOf(short[record.BufferHeaderWords:]))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		words := recordtest.NewBuffer(0, 0)
		words = append(words, make([]uint64, len(b)/8)...)
		copy(record.BytesOf(words[record.BufferHeaderWords:]), b)
		words[record.HeaderUsed] = uint64(len(b))
		r := New(s.Process)
		sources := []*Source{{
			thread: r.thread(0), Buffers: []*record.Buffer{{Words: words}}, Closed: true, Ended: true,
		}}
		r.Consume(sources)
		c := recordtest.InMemory(t)(r.Content())
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		recordtest.Lines(t, c, 0)
		resumed, err := Restore(s.Process, r.AppendState(nil))
		if err != nil {
			t.Fatal(err)
		}
		if resumed.Calls() != r.Calls() {
			t.Fatal("calls were lost")
		}
	})
}

// noTables reads the tables of a state that has none in a file.
func noTables(TablesAt, func([]byte) error) error { return ErrCheckpoint }

// Any bytes as a checkpoint yield an error or a working recorder.
func FuzzRestore(f *testing.F) {
	s := recordtest.NewShim(f)
	s.RandomProgram(rand.New(rand.NewPCG(3, 1)), 60)
	state := recorderOf(s).AppendState(nil)
	f.Add(state[len(checkpointMagic) : len(state)-8])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := restore(s.Process, b, noTables)
		if err != nil {
			return
		}
		if c, err := r.Content(); err == nil {
			for _, thread := range c.Threads.All() {
				_, _, _ = thread.Times()
			}
		}
		r.AppendState(nil)
	})
}
