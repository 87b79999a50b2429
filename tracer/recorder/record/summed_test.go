package record_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/tracer/rawlayout"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A summed is a summed record for tests, and what its calls were.
type summed struct {
	buffer    *record.Buffer
	at        int
	originals []uint16
	times     [][2]uint64 // enter and exit
}

// newSummed makes a buffer with some originals and a summed record of up to most calls that repeat
// them.
func newSummed(t *testing.T, random *rand.Rand, most int) *summed {
	shim := recordtest.NewShim(t)
	n := 1 + random.IntN(20)
	for range n {
		shim.Call(0, "MPI_Barrier", 0, recordtest.CommWorld)
	}
	words := slices.Clone(shim.Threads[0].Words)
	var starts []uint16
	b := &record.Buffer{Words: words}
	words[record.HeaderUsed] = uint64(len(words)-record.BufferHeaderWords) * 8
	var c record.Composer
	for at := record.BufferHeaderWords; at < len(words); {
		_, size := b.At(at, &c)
		require.Positive(t, size)
		// inputs of an original: header and one word
		words[at+record.ReservedWord] |= (record.HeaderWords + 1) << (rawlayout.InputsShift + 32)
		starts = append(starts, uint16(at))
		at += size
	}
	s := &summed{buffer: b, at: len(words)}
	clock := random.Uint64N(1 << 40)
	rows := map[uint16]*[2]uint64{}
	for i := range 1 + random.IntN(most) {
		original := starts[random.IntN(len(starts))]
		gap := random.Uint64N(1 << random.IntN(20))
		enter := clock + gap
		clock = enter + random.Uint64N(1<<random.IntN(20))
		if rows[original] == nil {
			rows[original] = &[2]uint64{}
		}
		if i > 0 {
			rows[original][0] += gap
		}
		rows[original][1] += clock - enter
		s.originals, s.times = append(s.originals, original), append(s.times, [2]uint64{enter, clock})
	}
	var list []uint64
	for original, row := range rows {
		if random.IntN(4) == 0 { // in two rows
			list = append(list, uint64(original), row[1]/3)
			row[1] -= row[1] / 3
		}
		list = append(list, uint64(original)|row[0]<<16, row[1])
	}
	spare := random.IntN(3)
	list = append(list, make([]uint64, 2*spare)...)
	count := len(list) / 2
	for i, original := range s.originals {
		if i%4 == 0 {
			list = append(list, 0)
		}
		list[len(list)-1] |= uint64(original) << (16 * (i % 4))
	}
	header := []uint64{
		record.Join(uint32(5+len(list))*8, record.SummedFunction), record.Join(uint32(count), 1), 7, s.times[0][0],
		(clock-s.times[0][0])<<rawlayout.SummedCountBits | uint64(len(s.originals)),
	}
	b.Words = slices.Concat(words, header, list)
	b.Words[record.HeaderUsed] = uint64(len(b.Words)-record.BufferHeaderWords) * 8
	return s
}

// The calls of a summed record are those that were made, in order. The sums over those of an
// original are exact, and so are the beginning of the first call and the end of the last one.
func TestSummedRecords(t *testing.T) {
	for seed := range uint64(60) {
		s := newSummed(t, rand.New(rand.NewPCG(seed, 7)), []int{10, 1000, rawlayout.SummedCalls}[seed%3])
		var c record.Composer
		r, size := s.buffer.At(s.at, &c)
		require.Equal(t, len(s.buffer.Words)-s.at, size)
		require.Equal(t, uint16(record.SummedFunction), r.Function)
		require.False(t, r.Open)
		want, got := map[uint16][2]uint64{}, map[uint16][2]uint64{}
		add := func(to map[uint16][2]uint64, original uint16, gap, duration uint64) {
			to[original] = [2]uint64{to[original][0] + gap, to[original][1] + duration}
		}
		i, before := 0, s.times[0][0]
		for call := range s.buffer.Calls(s.at, r) {
			original := s.originals[i]
			require.Equal(t, int(original), call.Original)
			require.Equal(t, uint64(7), call.Epoch)
			require.Equal(t, s.buffer.Words[call.Original:call.Original+len(call.Words)], call.Words)
			add(got, original, call.Enter-before, call.Exit-call.Enter)
			before = call.Exit
			last := s.times[max(i-1, 0)][1]
			if i == 0 {
				last = s.times[0][0]
			}
			add(want, original, s.times[i][0]-last, s.times[i][1]-s.times[i][0])
			i++
		}
		require.Equal(t, len(s.originals), i)
		require.Equal(t, want, got, "seed %d", seed)
		require.Equal(t, s.times[i-1][1], before)
	}
}

// Whatever is in the words, the calls are in the record's time, in order.
func TestDamagedSummedRecords(t *testing.T) {
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 8))
		s := newSummed(t, random, 200)
		for range 1 + random.IntN(4) {
			word := s.at + random.IntN(min(40, len(s.buffer.Words)-s.at))
			s.buffer.Words[word] ^= random.Uint64() >> random.IntN(64) << random.IntN(64)
		}
		if random.IntN(3) == 0 {
			s.buffer.Words = s.buffer.Words[:s.at+random.IntN(len(s.buffer.Words)-s.at)]
		}
		var c record.Composer
		r, size := s.buffer.At(s.at, &c)
		if size == 0 || r.Function != record.SummedFunction {
			continue
		}
		last := r.Enter
		for call := range s.buffer.Calls(s.at, r) {
			if call.Words == nil {
				continue
			}
			require.GreaterOrEqual(t, call.Enter, last)
			require.GreaterOrEqual(t, call.Exit, call.Enter)
			require.LessOrEqual(t, call.Exit, r.Exit)
			last = call.Exit
		}
	}
}
