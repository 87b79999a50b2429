package recorder

import "strings"

// A reader goes over the words of a record. After a read beyond the end, ok is false and every value is 0.
type reader struct {
	words []uint64
	at    int
	ok    bool
}

func (r *reader) word() uint64 {
	if r.at >= len(r.words) {
		r.ok = false
		return 0
	}
	r.at++
	return r.words[r.at-1]
}

func (r *reader) skip(n uint64) {
	if n > uint64(len(r.words)-r.at) {
		r.ok = false
		return
	}
	r.at += int(n)
}

// take returns the next n words.
func (r *reader) take(n uint64) []uint64 {
	at := r.at
	r.skip(n)
	if !r.ok {
		return nil
	}
	return r.words[at:r.at]
}

// What stands in the place of an array's or string's length.
const (
	lengthNull           = -1
	lengthSentinel       = -2 // a pointer constant follows
	lengthNotSignificant = -3
)

// array reads an array. special is one of the lengths above, or 0; sentinel the pointer of lengthSentinel.
func (r *reader) array() (elements []uint64, special int, sentinel uint64) {
	n := int64(r.word())
	switch {
	case n >= 0:
		return r.take(uint64(n)), 0, 0
	case n == lengthSentinel:
		return nil, lengthSentinel, r.word()
	case n == lengthNull, n == lengthNotSignificant:
		return nil, int(n), 0
	}
	r.ok = false
	return nil, lengthNull, 0
}

// text reads a string.
func (r *reader) text() (text []byte, special int, sentinel uint64) {
	n := int64(r.word())
	switch {
	case n >= 0:
		if !r.ok || uint64(n) > uint64(len(r.words)-r.at)*8 {
			r.ok = false
			return nil, lengthNull, 0
		}
		words := r.take((uint64(n) + 7) / 8)
		return bytesOf(words)[:n], 0, 0
	case n == lengthSentinel:
		return nil, lengthSentinel, r.word()
	case n == lengthNull, n == lengthNotSignificant:
		return nil, int(n), 0
	}
	r.ok = false
	return nil, lengthNull, 0
}

const statusWords = 3

// statuses reads the length and elements of an array of statuses.
func (r *reader) statuses() (words []uint64, special int) {
	n := int64(r.word())
	switch {
	case n >= 0 && n <= int64(len(r.words)):
		return r.take(uint64(n) * statusWords), 0
	case n == lengthSentinel:
		r.word()
		return nil, lengthSentinel
	case n == lengthNull, n == lengthNotSignificant:
		return nil, int(n)
	}
	r.ok = false
	return nil, lengthNull
}

// printable makes a text of the application fit for the trace: UTF-8.
func printable(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
