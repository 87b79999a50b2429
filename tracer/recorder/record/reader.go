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

// length reads the length of an array or a text. special is one of the lengths above, or 0;
// sentinel is the pointer of LengthSentinel.
func (r *Reader) length() (n uint64, special int, sentinel uint64) {
	switch n := int64(r.Word()); n {
	case LengthSentinel:
		return 0, LengthSentinel, r.Word()
	case LengthNull, LengthNotSignificant:
		return 0, int(n), 0
	default:
		if n < 0 {
			r.OK = false
			return 0, LengthNull, 0
		}
		return uint64(n), 0, 0
	}
}

// Array reads an array. special and sentinel are those of its length.
func (r *Reader) Array() (elements []uint64, special int, sentinel uint64) {
	n, special, sentinel := r.length()
	if special != 0 {
		return nil, special, sentinel
	}
	return r.Take(n), 0, 0
}

// Text reads a string. special and sentinel are those of its length.
func (r *Reader) Text() (text []byte, special int, sentinel uint64) {
	n, special, sentinel := r.length()
	if special != 0 {
		return nil, special, sentinel
	}
	words := r.Take((n + 7) / 8)
	if !r.OK {
		return nil, LengthNull, 0
	}
	return BytesOf(words)[:n], 0, 0
}

// StatusWords is the number of words of a status.
const StatusWords = 3

// Statuses reads the length and elements of an array of statuses.
func (r *Reader) Statuses() (words []uint64, special int) {
	n, special, _ := r.length()
	if special != 0 {
		return nil, special
	}
	if n > uint64(len(r.Words)) { // n * StatusWords may overflow
		r.OK = false
		return nil, LengthNull
	}
	return r.Take(n * StatusWords), 0
}

// Printable converts a text of the application to valid UTF-8 for the trace.
func Printable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
