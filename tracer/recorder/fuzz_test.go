package recorder

import (
	"math/rand/v2"
	"testing"

	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// Any bytes as a segment give calls, or notes on what was wrong.
func FuzzSegment(f *testing.F) {
	s := newFakeShim(f)
	s.randomProgram(rand.New(rand.NewPCG(3, 1)), 60)
	f.Add(record.BytesOf(s.threads[0].words[record.BufferHeaderWords:]))
	f.Add(record.BytesOf(s.threads[1].words[record.BufferHeaderWords:]))
	f.Add(record.BytesOf(s.threads[0].words[record.BufferHeaderWords : record.BufferHeaderWords+40]))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		words := newSegmentWords(0, 0)
		words = append(words, make([]uint64, len(b)/8)...)
		copy(record.BytesOf(words[record.BufferHeaderWords:]), b)
		words[record.HeaderUsed] = uint64(len(b))
		r := New(s.process)
		sources := []*source{{
			thread: r.thread(0), segments: []*record.Buffer{{Words: words}}, closed: true, ended: true,
		}}
		r.consume(sources)
		c := inMemory(t)(r.Content())
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		lines(t, c, 0)
		resumed, err := Restore(s.process, r.AppendState(nil))
		if err != nil {
			t.Fatal(err)
		}
		if resumed.Calls() != r.Calls() {
			t.Fatal("calls were lost")
		}
	})
}

// noTables is for a state that has none in a file.
func noTables(tablesAt, func([]byte) error) error { return errCheckpoint }

// Any bytes as a checkpoint give an error or a recorder that works.
func FuzzRestore(f *testing.F) {
	s := newFakeShim(f)
	s.randomProgram(rand.New(rand.NewPCG(3, 1)), 60)
	state := recorderOf(s).AppendState(nil)
	f.Add(state[len(checkpointMagic) : len(state)-8])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := restore(s.process, b, noTables)
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
