package recorder

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// AppendState appends the complete state of the recorder to b, including its tables, which a spool
// writes to a file.
func (r *Recorder) AppendState(b []byte) []byte {
	return r.AppendCheckpoint(b, TablesAt{}, r.AppendTables(nil, true))
}

// Restore makes a recorder from the result of AppendState.
func Restore(p *record.Process, state []byte) (*Recorder, error) {
	return RestoreFrom(p, state, func(TablesAt, func([]byte) error) error { return ErrCheckpoint })
}

// Resuming from a checkpoint at any time gives the same result as without it.
func TestCheckpointAnywhere(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			s := recordtest.NewShim(t)
			s.RandomProgram(rng, 300)
			want := contentOf(s)

			// all records in the order in which they are consumed
			var order []recordOf
			collect := New(s.Process)
			sources := sourcesOf(s, collect, true)
			for {
				first := -1
				var rec record.Record
				var next int
				for i, src := range sources {
					if r, n, ok := src.peek(); ok && (first < 0 || r.Epoch < rec.Epoch) {
						first, rec, next = i, r, n
					}
				}
				if first < 0 {
					break
				}
				order = append(order, recordOf{sources[first].thread.number, rec})
				sources[first].thread.offset = next
			}

			cut := rng.IntN(len(order) + 1)
			r := New(s.Process)
			for n := range uint32(len(s.Threads)) {
				r.thread(n)
			}
			for _, o := range order[:cut] {
				r.thread(o.thread).apply(o.record)
			}
			state := r.AppendState(nil)
			resumed, err := Restore(s.Process, state)
			if err != nil {
				t.Fatal(err)
			}
			if again := resumed.AppendState(nil); !bytes.Equal(again, state) {
				t.Fatal("the state of a resumed recorder is another one")
			}
			for _, o := range order[cut:] {
				resumed.thread(o.thread).apply(o.record)
			}
			got := recordtest.InMemory(t)(resumed.Content())
			if d := cmp.Diff(want, got, listed); d != "" {
				t.Errorf("checkpoint after %d of %d calls: -want +got\n%s", cut, len(order), d)
			}
		})
	}
}

type recordOf struct {
	thread uint32
	record record.Record
}

func TestDamagedCheckpoint(t *testing.T) {
	s := recordtest.NewShim(t)
	s.RandomProgram(rand.New(rand.NewPCG(1, 1)), 50)
	state := recorderOf(s).AppendState(nil)
	for i := range state {
		damaged := slices.Clone(state)
		damaged[i] ^= 0x10
		if _, err := Restore(s.Process, damaged); err == nil {
			t.Fatalf("byte %d of %d damaged, and nobody noticed", i, len(state))
		}
	}
	if _, err := Restore(s.Process, state[:len(state)-1]); err == nil {
		t.Error("truncated, and nobody noticed")
	}
}

// listed returns the content of tables in a comparable form.
var listed = cmp.Options{
	cmp.Transformer("ranks", func(t trace.RankTable) []trace.Rank { return t.List() }),
	cmp.Transformer("threads", func(t trace.ThreadTable) []trace.Thread { return t.List() }),
	cmp.Transformer("numbers", func(n codec.Numbers) []int64 { return n.Values(nil) }),
}
