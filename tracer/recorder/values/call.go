package values

import "github.com/cairn-mpi/cairn/tracer/recorder/record"

// A Call is the values of one call, stream by stream: Lengths[i] of them are for stream i.
type Call struct {
	Values  []int64
	Lengths []int32
}

// Reset removes all values.
func (c *Call) Reset() { c.Values, c.Lengths = c.Values[:0], c.Lengths[:0] }

// Push adds a stream with one value.
func (c *Call) Push(v int64) {
	c.Values = append(c.Values, v)
	c.Lengths = append(c.Lengths, 1)
}

// StatusFields is the number of fields of a status: source, tag, error, cancelled, bytes.
const StatusFields = 5

// Add adds the streams of a form with the words of a record.
func (c *Call) Add(form Form, words []uint64) {
	before := len(c.Values)
	switch form {
	case Word:
		c.Push(int64(words[0]))
	case List:
		c.Values = append(c.Values, int64(len(words)))
		for _, w := range words {
			c.Values = append(c.Values, int64(w))
		}
		c.Lengths = append(c.Lengths, int32(len(c.Values)-before))
	case Statuses:
		for ; len(words) > 0; words = words[record.StatusWords:] {
			c.Values = appendFields(c.Values, words)
			c.Lengths = append(c.Lengths, 1, 1, 1, 1, 1)
		}
	case StatusList:
		c.Values = append(c.Values, int64(len(words)/record.StatusWords*StatusFields))
		for ; len(words) > 0; words = words[record.StatusWords:] {
			c.Values = appendFields(c.Values, words)
		}
		c.Lengths = append(c.Lengths, int32(len(c.Values)-before))
	}
}

// Move moves the first n streams of another call, or as many as it has, to the end of c.
func (c *Call) Move(from *Call, n int) {
	n = min(n, len(from.Lengths))
	length := 0
	for _, k := range from.Lengths[:n] {
		length += int(k)
	}
	c.Values, from.Values = append(c.Values, from.Values[:length]...), from.Values[length:]
	c.Lengths, from.Lengths = append(c.Lengths, from.Lengths[:n]...), from.Lengths[n:]
}

// appendFields appends the fields of the status at the front of words.
func appendFields(to []int64, words []uint64) []int64 {
	w := words[:record.StatusWords]
	return append(to,
		int64(int32(w[0])), int64(int32(w[0]>>32)), // source, tag
		int64(int32(w[1])), int64(int32(w[1]>>32)), // error, cancelled
		int64(w[2])) // bytes
}

// Sources are where the values of a call are in its record.
type Sources struct {
	At   []int32 // the words that are read
	Flat bool    // every stream gets one value; the maker sets it
	list []source
}

type source struct {
	at, n int32
	form  Form
}

// A Form is the form of the values of a source.
type Form uint8

const (
	None       Form = iota // no values
	Word                   // one value
	List                   // n elements: one stream, with their number first
	Statuses               // n statuses: five streams each
	StatusList             // n statuses: one stream, with the number of values first
)

// Words returns the number of words of n elements of this form.
func (f Form) Words(n int) int32 {
	if f == Statuses || f == StatusList {
		n *= record.StatusWords
	}
	return int32(n)
}

// Add adds n words, elements or statuses from word at on.
func (s *Sources) Add(at int32, n int, form Form) {
	s.list = append(s.list, source{at, int32(n), form})
	for k := at; k < at+form.Words(n); k++ {
		s.At = append(s.At, k)
	}
}

// None reports whether calls have no values.
func (s *Sources) None() bool { return len(s.list) == 0 }

// Read adds the values in a record to c.
func (s *Sources) Read(c *Call, words []uint64) {
	for _, from := range s.list {
		c.Add(from.form, words[from.at:][:from.form.Words(int(from.n))])
	}
}
