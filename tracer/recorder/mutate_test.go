package recorder

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// mutate damages a batch of valid records in the ways of a program that writes over our memory and
// of a shim that is wrong: words that are lengths, handles or counts become something else; records
// are cut, repeated and swapped. Half of the batches have short records.
func mutate(rng *rand.Rand, words []uint64) []uint64 {
	at := starts(words)
	words = slices.Clone(words)
	if rng.IntN(2) == 0 {
		var ends []int
		words, ends = recordtest.Shorten(rng, words)
		copy(at[1:], ends)
	}
	interesting := []uint64{0, 1, ^uint64(0), ^uint64(1), ^uint64(2), 1 << 31, 1<<31 - 1, 1 << 32, 1 << 62, 1 << 63, 0x44000000, 0x2c000000}
	for range 1 + rng.IntN(8) {
		damage(rng, words, at, interesting)
	}
	return words
}

// damage damages one of the records that begin at these words.
func damage(rng *rand.Rand, words []uint64, starts []int, interesting []uint64) {
	i := rng.IntN(len(starts) - 1)
	at, n := starts[i], starts[i+1]-starts[i]
	switch rng.IntN(7) {
	case 0: // an argument
		if n > record.HeaderWords {
			words[at+record.HeaderWords+rng.IntN(n-record.HeaderWords)] = interesting[rng.IntN(len(interesting))]
		}
	case 1: // the function
		words[at+record.LengthWord] = record.Join(record.Low(words[at+record.LengthWord]), uint32(rng.IntN(800))|uint32(rng.IntN(256))<<16)
	case 2: // any word
		words[at+rng.IntN(n)] = rng.Uint64()
	case 3: // its length
		words[at+record.LengthWord] = record.Join(uint32(rng.IntN(1024))*8, record.High(words[at+record.LengthWord]))
	case 4: // one bit
		words[at+rng.IntN(n)] ^= 1 << rng.IntN(64)
	case 5: // another record's arguments
		from := starts[rng.IntN(len(starts))]
		copy(words[min(at+record.HeaderWords, at+n):at+n], words[min(from+record.HeaderWords, len(words)):])
	case 6: // its epoch
		words[at+min(record.EpochWord, n-1)] = rng.Uint64N(1 << 20)
	}
}

// feed consumes a batch; a panic because of a damaged record is caught and counted.
func feed(t *testing.T, s *recordtest.Shim, batches map[uint32][]uint64) *Recorder {
	r := New(s.Process)
	var sources []*Source
	for n := range uint32(len(batches)) {
		words := batches[n]
		sources = append(sources, &Source{
			thread: r.thread(n), Buffers: []*record.Buffer{{Thread: n, Words: words}}, Closed: true, Ended: true,
		})
	}
	r.Consume(sources)
	c := recordtest.InMemory(t)(r.Content())
	require.NoError(t, c.Validate())
	return r
}

// maxMemoryPerByte limits the memory that the recorder may take for a batch of records,
// whatever is in them.
const maxMemoryPerByte = 64

func liveBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Valid records with damage: no crash, and no memory beyond a multiple of the input.
func TestMutatedRecords(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s := recordtest.NewShim(t)
		s.RandomProgram(rng, 200)
		batches := map[uint32][]uint64{}
		size := 0
		for n, th := range s.Threads {
			batches[n] = mutate(rng, th.Words)
			size += 8 * len(batches[n])
		}
		before := liveBytes()
		r := feed(t, s, batches)
		if after := liveBytes(); after > before+1<<20 && after-before > uint64(size)*maxMemoryPerByte {
			t.Fatalf("seed %d: %d bytes of records, %d bytes of memory", seed, size, after-before)
		}
		state := r.AppendState(nil)
		resumed, err := Restore(s.Process, state)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, r.Calls(), resumed.Calls())
	}
}

// Random damage, found by the fuzzer.
func FuzzMutatedRecords(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, program, damage uint64) {
		s := recordtest.NewShim(t)
		s.RandomProgram(rand.New(rand.NewPCG(program, 1)), 80)
		rng := rand.New(rand.NewPCG(damage, 2))
		batches := map[uint32][]uint64{}
		for n, th := range s.Threads {
			batches[n] = mutate(rng, th.Words)
		}
		feed(t, s, batches)
	})
}
