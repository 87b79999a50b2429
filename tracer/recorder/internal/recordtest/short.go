package recordtest

import (
	"math/rand/v2"
	"slices"

	"github.com/cairn-mpi/cairn/tracer/recorder/record"
)

// A Shortener writes records as the shim may do, too: with short records for most of those that
// have an original, in any of the forms that are possible for each. Without Random the records are
// as short as possible.
type Shortener struct {
	Random    *rand.Rand
	originals map[string][]int
}

// Begin begins a buffer.
func (s *Shortener) Begin() { s.originals = map[string][]int{} }

// Next returns the words of a record w that is not short, behind those of its buffer so far.
func (s *Shortener) Next(buffer, w []uint64) []uint64 {
	inputs := int(w[0]&0xffffffff) / 8
	if isCommitted(w) {
		inputs = int(w[1] >> 33)
	}
	key := string(record.BytesOf([]uint64{w[0] >> 32 & 0xffffff, w[5]})) + string(record.BytesOf(w[7:inputs]))
	known := s.originals[key]
	if len(known) > 0 && mostly(s.Random) {
		original := known[len(known)-1]
		if s.Random != nil {
			original = known[s.Random.IntN(len(known))]
		}
		return short(s.Random, buffer, original, w, inputs)
	}
	if isCommitted(w) && len(buffer) < 1<<16 {
		s.originals[key] = append(known, len(buffer))
	}
	return w
}

func isCommitted(w []uint64) bool { return w[1]>>32&1 == 1 }

// Shorten returns a buffer with short records. ends are the words after each record of the result.
func Shorten(rng *rand.Rand, words []uint64) (out []uint64, ends []int) {
	s := Shortener{Random: rng}
	s.Begin()
	out = slices.Clone(words[:record.BufferHeaderWords])
	for at := record.BufferHeaderWords; at < len(words); {
		size := int(words[at+1]&0xffffffff) / 8
		out = append(out, s.Next(out, words[at:at+size])...)
		at += size
		ends = append(ends, len(out))
	}
	out[record.HeaderUsed] = uint64(len(out)-record.BufferHeaderWords) * 8
	return out, ends
}

func mostly(rng *rand.Rand) bool { return rng == nil || rng.IntN(8) != 0 }

// short returns a short record for a record w whose original is at a word of the buffer.
func short(rng *rand.Rand, buffer []uint64, original int, w []uint64, inputs int) []uint64 {
	first := uint64(1 | original<<3)
	ticks, epoch := buffer[5], buffer[8]
	o := buffer[original:]
	o = o[:o[0]&0xffffffff/8]
	enter, exit := w[3]-ticks, w[4]-w[3]
	second := enter&(1<<40-1) | (w[2]-epoch)<<40
	fits := enter < 1<<40 && exit < 1<<45 && w[2]-epoch < 1<<24
	if !isCommitted(w) {
		if !fits {
			return w
		}
		reserve := 2
		if rng != nil {
			reserve += rng.IntN(4)
		}
		return append([]uint64{first | uint64(8*reserve)<<19, second}, make([]uint64, reserve-2)...)
	}
	outputs := w[inputs : w[0]&0xffffffff/8]
	same := fits && w[0]>>32 == o[0]>>32 && w[6] == o[6]
	switch {
	case same && slices.Equal(outputs, o[inputs:]) && mostly(rng):
		return []uint64{first | 1<<1 | exit<<19, second}
	case same && len(outputs) == len(o)-inputs && mostly(rng):
		return append([]uint64{first | 2<<1 | exit<<19, second}, outputs...)
	}
	length, padding, any := 7+len(outputs), 0, uint64(0)
	if rng != nil {
		padding, any = rng.IntN(3), rng.Uint64()
	}
	out := append([]uint64{
		first | 3<<1 | uint64(8*(length+padding))<<19, any,
		uint64(8*length) | w[0]>>32<<32, w[2], w[3], w[4], w[6],
	}, outputs...)
	return append(out, make([]uint64, padding)...)
}
