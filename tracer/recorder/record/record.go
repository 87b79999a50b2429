package record

import "github.com/cairn-mpi/cairn/tracer/rawlayout"

// A Record is one call, raw. It is valid as long as its buffer is; a composed one only until the
// next record is read with the same Composer.
type Record struct {
	// Words are the header and the payload. The words of the header that are fields here are those
	// of the original if the call has a short record.
	Words       []uint64
	Function    uint16
	Flags       uint8
	Epoch       uint64
	Enter, Exit uint64 // ticks
	// Original is the word of the buffer at which Words begin, 0 if they are composed.
	Original int
	Open     bool // the call has not returned; Words are the header and the inputs only
}

// IsMarker reports whether the call is a marker for clustering.
func (r *Record) IsMarker() bool { return r.Flags&rawlayout.FlagMarker != 0 }

// IsLeft reports whether the call never returned, though its thread went on or ended without the
// process. Exit is when that was seen, or a later call of the thread; Words end with the inputs.
func (r *Record) IsLeft() bool { return r.Flags&rawlayout.FlagLeft != 0 }

// Leave makes an open record that of a call which was left, if the buffer says so.
func (s *Buffer) Leave(r *Record) bool {
	unwound := s.Words[headerUnwound]
	if unwound <= r.Enter || r.Enter < s.Words[headerUnwoundFrom] {
		return false
	}
	if r.Enter == 0 { // published just before the clock was read
		r.Enter = unwound
	}
	r.Open, r.Exit = false, unwound
	r.Flags |= rawlayout.FlagLeft
	return true
}

// first sets what the first word of a record says.
func (r *Record) first(w uint64) { r.Function, r.Flags = FunctionIn(w), uint8(w>>56) }

// FunctionIn returns the function of a record from its first word.
func FunctionIn(first uint64) uint16 { return uint16(first >> 32) }

// A Composer has the memory for the words of a record that are in the buffer in two pieces.
type Composer struct{ words []uint64 }

// At returns the record at a word of the buffer, and the number of words up to the next one: 0 if
// there cannot be a record at this word, or not yet; r means nothing then. Nothing in the buffer is
// trusted.
func (s *Buffer) At(at int, c *Composer) (r Record, size int) {
	limit := s.Available()
	if at >= limit {
		return r, 0
	}
	first := s.Words[at]
	if first&rawlayout.Short != 0 {
		return s.short(first, at, limit, c)
	}
	if FunctionIn(first) == SummedFunction {
		return s.summed(at, limit)
	}
	if limit-at < HeaderWords {
		return r, 0
	}
	second := s.Words[at+ReservedWord]
	words := s.Words[at:]
	r.first(first)
	r.Original = at
	r.Epoch, r.Enter, r.Exit = words[EpochWord], words[EnterWord], words[ExitWord]
	size, length := int(Low(second))/8, int(Low(first))/8
	if Low(second)%8 != 0 || length < HeaderWords || length > size || length > len(words) {
		return r, 0
	}
	r.Open = !isCommitted(second)
	if !r.Open && size > limit-at {
		return r, 0
	}
	r.Words = words[:length:length]
	return r, size
}

// Claim returns how many words the record at a word of the buffer says that it has, whether they
// are in the buffer or not; 0 if there cannot be a record. If the buffer ends before that is
// known, it returns how many are needed to know it.
func (s *Buffer) Claim(at int) int {
	if len(s.Words)-at < HeaderWords {
		return HeaderWords
	}
	first := s.Words[at]
	switch size := int(Low(s.Words[at+ReservedWord])); {
	case first&rawlayout.Short != 0:
	case FunctionIn(first) == SummedFunction:
		return int(Low(first)) / 8
	case size%8 != 0 || size/8 < HeaderWords:
		return 0
	default:
		return size / 8
	}
	of, inputs := s.original(originalOf(first), at)
	if of == nil {
		return 0
	}
	return shortSize(first, len(of)-inputs)
}

// inputsIn returns the number of words of header and inputs from the second word of a record; 0: it
// is nobody's original.
func inputsIn(second uint64) int { return int(uint16(High(second)) >> rawlayout.InputsShift) }

func isCommitted(second uint64) bool { return High(second)&rawlayout.Committed != 0 }

// Fields of a short record's two words.
const (
	// ShortBits of the first word are all but the duration.
	ShortBits = 1<<rawlayout.ShortDurationShift - 1
	// ShortWords is the size of a short record without outputs of its own.
	ShortWords = 2

	shortState    = 1<<(rawlayout.ShortOriginalShift-rawlayout.ShortStateShift) - 1
	shortOriginal = 1<<(rawlayout.ShortDurationShift-rawlayout.ShortOriginalShift) - 1
	shortEnter    = 1<<rawlayout.ShortEnterBits - 1
	explicitWords = ShortWords + 5 // first word of a record, epoch, enter, exit, result
)

// EqualTo returns the ShortBits of a short record that is equal to its original; false if no short
// record has this original.
func EqualTo(original int) (bits uint64, ok bool) {
	return uint64(original)<<rawlayout.ShortOriginalShift | rawlayout.ShortEqual<<rawlayout.ShortStateShift | rawlayout.Short,
		original >= BufferHeaderWords && original <= shortOriginal
}

func originalOf(first uint64) int { return int(first >> rawlayout.ShortOriginalShift & shortOriginal) }

func stateOf(first uint64) uint64 { return first >> rawlayout.ShortStateShift & shortState }

// shortSize returns the words of a short record whose original has so many words of outputs.
func shortSize(first uint64, outputs int) int {
	switch stateOf(first) {
	case rawlayout.ShortEqual:
		return ShortWords
	case rawlayout.ShortOutputs:
		return ShortWords + outputs
	}
	return max(int(ShortDuration(first))/8, ShortWords)
}

// ShortDuration returns the ticks in the first word.
func ShortDuration(first uint64) uint64 { return first >> rawlayout.ShortDurationShift }

// ShortEnter returns the ticks in the second word, which count from the buffer's.
func ShortEnter(second uint64) uint64 { return second & shortEnter }

// ShortEpoch returns the epoch in the second word, which counts from the buffer's.
func ShortEpoch(second uint64) uint64 { return second >> rawlayout.ShortEnterBits }

// Base returns what the times and epochs of the buffer's short records are relative to.
func (s *Buffer) Base() (ticks, epoch uint64) { return s.Words[HeaderSample], s.Words[HeaderEpoch] }

// short returns the short record at a word of the buffer.
func (s *Buffer) short(first uint64, at, limit int, c *Composer) (r Record, size int) {
	original := originalOf(first)
	of, inputs := s.original(original, at)
	if of == nil || limit-at < ShortWords {
		return r, 0
	}
	r.first(of[LengthWord])
	r.Words, r.Original = of, original
	second := s.Words[at+1]
	ticks, epoch := s.Base()
	r.Epoch, r.Enter = epoch+ShortEpoch(second), ticks+ShortEnter(second)
	r.Exit = r.Enter + ShortDuration(first)
	size = shortSize(first, len(of)-inputs)
	switch state := stateOf(first); {
	case state == rawlayout.ShortEqual:
		return r, size
	case state == rawlayout.ShortOpen:
		r.Open, r.Exit, r.Words = true, 0, of[:inputs:inputs]
		return r, size
	case size > limit-at:
		return r, 0
	case state == rawlayout.ShortOutputs:
		return c.compose(r, inputs, s.Words[at+ShortWords:at+size]), size
	}
	words := s.Words[at : at+size]
	length := 0
	if size >= explicitWords {
		length = int(Low(words[2])) / 8
	}
	if length < explicitWords || length > size {
		return r, 0
	}
	r.first(words[2])
	r.Epoch, r.Enter, r.Exit = words[3], words[4], words[5]
	r = c.compose(r, inputs, words[explicitWords:length])
	r.Words[LengthWord] = Join(Low(r.Words[LengthWord]), High(words[2]))
	r.Words[ReturnWord] = words[6]
	return r, size
}

// original returns the words of the original at a word of the buffer, and how many of them are
// header and inputs; nil if there is none before the short record at word before.
func (s *Buffer) original(at, before int) (words []uint64, inputs int) {
	if at < BufferHeaderWords || before-at < HeaderWords {
		return nil, 0
	}
	first, second := s.Words[at], s.Words[at+ReservedWord]
	length, inputs := int(Low(first))/8, inputsIn(second)
	if first&rawlayout.Short != 0 || FunctionIn(first) == SummedFunction || !isCommitted(second) || inputs < HeaderWords || length < inputs || length > before-at {
		return nil, 0
	}
	return s.Words[at : at+length : at+length], inputs
}

// compose returns r, whose words are the original's, with outputs of its own.
func (c *Composer) compose(r Record, inputs int, outputs []uint64) Record {
	c.words = append(append(c.words[:0], r.Words[:inputs]...), outputs...)
	c.words[LengthWord] = Join(uint32(len(c.words))*8, High(c.words[LengthWord]))
	r.Words, r.Original = c.words, 0
	return r
}
