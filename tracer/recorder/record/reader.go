package record

import "strings"

// A Reader reads the words of a record in order. After a read beyond the end OK is false and
// every value is 0.
type Reader struct {
	Words []uint64
	At    int
	OK    bool
}

// Word reads a word.
func (r *Reader) Word() uint64 {
	if r.At >= len(r.Words) {
		r.OK = false
		return 0
	}
	r.At++
	return r.Words[r.At-1]
}

// Skip skips n words.
func (r *Reader) Skip(n uint64) {
	if n > uint64(len(r.Words)-r.At) {
		r.OK = false
		return
	}
	r.At += int(n)
}

// Take returns the next n words.
func (r *Reader) Take(n uint64) []uint64 {
	at := r.At
	r.Skip(n)
	if !r.OK {
		return nil
	}
	return r.Words[at:r.At]
}

// Lengths of an array or string with a special meaning.
const (
	LengthNull           = -1
	LengthSentinel       = -2 // a pointer constant follows
	LengthNotSignificant = -3
)

// Array reads an array. special is one of the lengths above, or 0; sentinel is the pointer
// of LengthSentinel.
func (r *Reader) Array() (elements []uint64, special int, sentinel uint64) {
	n := int64(r.Word())
	switch {
	case n >= 0:
		return r.Take(uint64(n)), 0, 0
	case n == LengthSentinel:
		return nil, LengthSentinel, r.Word()
	case n == LengthNull, n == LengthNotSignificant:
		return nil, int(n), 0
	}
	r.OK = false
	return nil, LengthNull, 0
}

// Text reads a string.
func (r *Reader) Text() (text []byte, special int, sentinel uint64) {
	n := int64(r.Word())
	switch {
	case n >= 0:
		if !r.OK || uint64(n) > uint64(len(r.Words)-r.At)*8 {
			r.OK = false
			return nil, LengthNull, 0
		}
		words := r.Take((uint64(n) + 7) / 8)
		return BytesOf(words)[:n], 0, 0
	case n == LengthSentinel:
		return nil, LengthSentinel, r.Word()
	case n == LengthNull, n == LengthNotSignificant:
		return nil, int(n), 0
	}
	r.OK = false
	return nil, LengthNull, 0
}

// StatusWords is the number of words of a status.
const StatusWords = 3

// Statuses reads the length and elements of an array of statuses.
func (r *Reader) Statuses() (words []uint64, special int) {
	n := int64(r.Word())
	switch {
	case n >= 0 && n <= int64(len(r.Words)):
		return r.Take(uint64(n) * StatusWords), 0
	case n == LengthSentinel:
		r.Word()
		return nil, LengthSentinel
	case n == LengthNull, n == LengthNotSignificant:
		return nil, int(n)
	}
	r.OK = false
	return nil, LengthNull
}

// Printable converts a text of the application to valid UTF-8 for the trace.
func Printable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
