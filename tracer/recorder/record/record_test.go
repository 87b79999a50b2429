package record_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// read returns the records of a buffer up to a limit of words. Their words do not change any more,
// and have no times and epochs: those are fields.
func read(b *record.Buffer, limit int) (list []record.Record) {
	b.Words[record.HeaderUsed] = uint64(limit-record.BufferHeaderWords) * 8
	var c record.Composer
	for at := record.BufferHeaderWords; ; {
		r, size := b.At(at, &c)
		if size == 0 {
			return list
		}
		r.Words, r.Original = slices.Clone(r.Words), 0
		for _, word := range []int{record.ReservedWord, record.EpochWord, record.EnterWord, record.ExitWord} {
			r.Words[word] = 0
		}
		if r.Open { // a short record's original has returned
			r.Words[record.LengthWord] &^= 1<<32 - 1
			r.Words[record.ReturnWord], r.Exit = 0, 0
		}
		list = append(list, r)
		at += size
	}
}

// A buffer with short records has the same calls as one without, and where it ends earlier a prefix
// of them.
func TestShortRecords(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		s := recordtest.NewShim(t)
		s.RandomProgram(rng, 150)
		s.Open(0, "MPI_Barrier", recordtest.CommWorld)
		for _, th := range s.Threads {
			want := read(&record.Buffer{Words: th.Words}, len(th.Words))
			words, ends := recordtest.Shorten(rng, th.Words)
			require.Len(t, want, len(ends))
			require.Less(t, len(words), len(th.Words))
			b := &record.Buffer{Words: words}
			require.Equal(t, want, read(b, len(words)), "seed %d", seed)
			n := rng.IntN(len(ends))
			require.Equal(t, want[:n+1], read(b, ends[n]), "seed %d", seed)
			b.Words = words[:ends[n]] // a file that was cut, or read before it was complete
			require.Equal(t, want[:n+1], read(b, len(words)), "seed %d", seed)
		}
	}
}

// The original of a short record must be a committed record before it. Whatever else its bits are,
// it is no record.
func TestWrongOriginals(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
	s.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
	words, ends := recordtest.Shorten(nil, s.Threads[0].Words)
	b := &record.Buffer{Words: words}
	var c record.Composer
	at := ends[0]
	bits, ok := record.EqualTo(record.BufferHeaderWords)
	require.True(t, ok)
	require.Equal(t, bits, words[at]&record.ShortBits)
	for original := range 1 << 16 {
		wrong, ok := record.EqualTo(original)
		require.Equal(t, original >= record.BufferHeaderWords, ok)
		words[at] = wrong
		_, size := b.At(at, &c)
		require.Equal(t, original == record.BufferHeaderWords, size > 0, original)
	}
	_, ok = record.EqualTo(1 << 16)
	require.False(t, ok)
}
