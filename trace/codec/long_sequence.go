package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A value sequence grows with the calls that it is of. Where it is long it is cut into chunks, which never change: they
// are coded once, and nobody needs to hold all of them in memory.

// SequenceChunk is the number of values of a chunk. Each upload of a shard has what follows on the last chunk of every
// stream; with larger chunks that is more (docs/decisions/0089-value-streams.md).
const SequenceChunk = 1 << 14

// A Sequence is a list of values. Those of a long one are in chunks, up to the last ones.
type Sequence struct {
	Chunks []*Chunk
	Values []int64 // that follow
}

// Memory is how many bytes the sequence takes, but for what it shares with others.
func (s *Sequence) Memory() int64 {
	n := int64(cap(s.Values)) * 8
	for _, c := range s.Chunks {
		n += ChunkBytes + int64(cap(c.coded))
	}
	return n
}

// A Chunk is SequenceChunk values, coded: in memory, in a file, or as those of another chunk with a number added.
type Chunk struct {
	summary ChunkSummary

	coded []byte    // as AppendSequence has them
	file  ChunkFile // nil: none
	entry Entry
	of    *Chunk
	more  int64 // than those of that chunk
}

// A ChunkSummary is what is known of a chunk without reading it.
type ChunkSummary struct {
	Sum   [16]byte // the first half of the SHA-256 of the values; zero: nothing is known yet
	First int64
	Equal bool // all values are the first
}

// A ChunkFile has chunks in blocks.
type ChunkFile interface {
	// Chunk reads a block, which is booked on Budget.
	Chunk(e Entry) ([]byte, error)
	// Budget is where what is read of a chunk is booked.
	Budget() *Budget
}

// ChunkBytes is what is booked for a chunk.
const ChunkBytes = 160

// StoredChunk is a chunk in a block of a file.
func StoredChunk(file ChunkFile, e Entry, summary ChunkSummary) Chunk {
	return Chunk{summary: summary, file: file, entry: e}
}

// Summary is what is known of the chunk.
func (c *Chunk) Summary() ChunkSummary { return c.summary }

// Stored is the block that has the chunk; nil if it is in no file.
func (c *Chunk) Stored() (ChunkFile, Entry) { return c.file, c.entry }

// ErrChunk is the error of a chunk that is damaged.
var ErrChunk = errors.New("trace: damaged chunk of a value sequence")

// newChunk codes values.
func newChunk(values []int64) *Chunk {
	c := &Chunk{coded: slices.Clone(AppendSequence(nil, values))} // without room for more
	c.describe(values)
	return c
}

// describe notes what is known of a chunk without reading it.
func (c *Chunk) describe(values []int64) {
	hash := sha256.New()
	var b [4096]byte
	for at := 0; at < len(values); {
		n := 0
		for ; n < len(b) && at < len(values); at++ {
			binary.LittleEndian.PutUint64(b[n:], uint64(values[at]))
			n += 8
		}
		_, _ = hash.Write(b[:n]) // never fails
	}
	copy(c.summary.Sum[:], hash.Sum(nil))
	c.summary.First = values[0]
	c.summary.Equal = !slices.ContainsFunc(values, func(v int64) bool { return v != values[0] })
}

// Content is the chunk as AppendSequence has it. It is booked on the budget of its file until give.
func (c *Chunk) Content() ([]byte, error) {
	switch {
	case c.of != nil:
		values, err := c.of.values()
		if err != nil {
			return nil, err
		}
		for i := range values {
			values[i] += c.more
		}
		return AppendSequence(nil, values), nil
	case c.file != nil:
		return c.file.Chunk(c.entry)
	}
	return c.coded, nil
}

// Give gives back what content has booked.
func (c *Chunk) Give(content []byte) {
	if c.file != nil {
		c.file.Budget().Give(int64(len(content)))
	}
}

// budget is where what is decoded of the chunk is booked.
func (c *Chunk) budget() *Budget {
	if c.file != nil {
		return c.file.Budget()
	}
	return nil
}

// read begins to decode the content of a chunk.
func (c *Chunk) read(content []byte) (sequenceReader, error) {
	r := newSequenceReader(content, c.budget())
	if r.d.Err != nil || r.left != SequenceChunk {
		return r, ErrChunk
	}
	return r, nil
}

// values decodes the chunk.
func (c *Chunk) values() ([]int64, error) {
	content, err := c.Content()
	if err != nil {
		return nil, err
	}
	defer c.Give(content)
	r, err := c.read(content)
	if err != nil {
		return nil, err
	}
	values := make([]int64, SequenceChunk)
	if n := r.read(values); n < len(values) || len(r.d.Rest) > 0 {
		return nil, errors.Join(ErrChunk, r.d.Err)
	}
	r.end()
	return values, nil
}

// Check reads a chunk of a file, if that was not done before, and notes what it is.
func (c *Chunk) Check() error {
	if c.summary.Sum != [16]byte{} {
		return nil
	}
	values, err := c.values()
	if err == nil {
		c.describe(values)
	}
	return err
}

// plus is the chunk with a number added to all values.
func (c *Chunk) plus(more int64) (*Chunk, error) {
	values, err := c.values()
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i] += more
	}
	sum := &Chunk{of: c, more: more}
	sum.describe(values)
	return sum, nil
}

// Len is the number of values.
func (s *Sequence) Len() uint64 { return uint64(len(s.Chunks))*SequenceChunk + uint64(len(s.Values)) }

// All is all values.
func (s *Sequence) All() ([]int64, error) {
	if len(s.Chunks) == 0 {
		return s.Values, nil
	}
	all := make([]int64, 0, s.Len())
	for _, c := range s.Chunks {
		values, err := c.values()
		if err != nil {
			return nil, err
		}
		all = append(all, values...)
	}
	return append(all, s.Values...), nil
}

// Chunked is the sequence with as many chunks as it can have.
func (s *Sequence) Chunked() Sequence {
	if len(s.Values) < SequenceChunk {
		return *s
	}
	b := SequenceBuilder{made: Sequence{Chunks: slices.Clip(s.Chunks)}}
	for _, v := range s.Values {
		b.Push(v)
	}
	return b.Sequence()
}

// Constant is the value that all values are; false if they differ, or there are none.
func (s *Sequence) Constant() (value int64, constant bool) {
	switch {
	case len(s.Chunks) > 0:
		value = s.Chunks[0].summary.First
	case len(s.Values) > 0:
		value = s.Values[0]
	default:
		return 0, false
	}
	for _, c := range s.Chunks {
		if !c.summary.Equal || c.summary.First != value {
			return 0, false
		}
	}
	return value, !slices.ContainsFunc(s.Values, func(v int64) bool { return v != value })
}

// Plus is the sequence with a number added to all values.
func (s *Sequence) Plus(more int64) (Sequence, error) {
	sum := Sequence{Values: make([]int64, len(s.Values))}
	for i, v := range s.Values {
		sum.Values[i] = v + more
	}
	known := map[*Chunk]*Chunk{} // of a constant sequence all are one
	for _, c := range s.Chunks {
		made := known[c]
		if made == nil {
			var err error
			if made, err = c.plus(more); err != nil {
				return Sequence{}, err
			}
			known[c] = made
		}
		sum.Chunks = append(sum.Chunks, made)
	}
	return sum, nil
}

// Read begins to read the values one by one.
func (s *Sequence) Read() *ValueReader { return &ValueReader{NewSequenceStream(*s, nil)} }

// A ValueReader gives values in order.
type ValueReader struct{ stream ValueStream }

// Next is the next value; false at the end or on an error.
func (r *ValueReader) Next() (int64, bool) { return r.stream.Next() }

// Err is why Next stopped before the end, if it did.
func (r *ValueReader) Err() error {
	if err := r.stream.Err(); !errors.Is(err, ErrStreamEnds) {
		return fmt.Errorf("trace: value sequence: %w", err)
	}
	return nil
}

// A SequenceBuilder makes a sequence of its values. The zero value is ready.
type SequenceBuilder struct {
	made Sequence
	run  *Chunk // the latest of equal values
}

// Push adds a value.
func (b *SequenceBuilder) Push(v int64) {
	b.made.Values = append(b.made.Values, v)
	if len(b.made.Values) == SequenceChunk {
		b.made.Chunks = append(b.made.Chunks, newChunk(b.made.Values))
		b.made.Values = b.made.Values[:0]
	}
}

// PushRun adds a value n times.
func (b *SequenceBuilder) PushRun(v int64, n uint64) {
	for ; n > 0 && (len(b.made.Values) > 0 || n < SequenceChunk); n-- {
		b.Push(v)
	}
	for ; n >= SequenceChunk; n -= SequenceChunk {
		if b.run == nil || b.run.summary.First != v {
			b.run = newChunk(slices.Repeat([]int64{v}, SequenceChunk))
		}
		b.made.Chunks = append(b.made.Chunks, b.run)
	}
	for ; n > 0; n-- {
		b.Push(v)
	}
}

// PushChunk adds a chunk. What was added before are chunks.
func (b *SequenceBuilder) PushChunk(c *Chunk) { b.made.Chunks = append(b.made.Chunks, c) }

// Len is how many values there are.
func (b *SequenceBuilder) Len() uint64 { return b.made.Len() }

// Chunks are those that are full.
func (b *SequenceBuilder) Chunks() []*Chunk { return b.made.Chunks }

// Sequence is what was made. The builder is of no use after it.
func (b *SequenceBuilder) Sequence() Sequence {
	b.made.Values = slices.Clip(b.made.Values)
	return b.made
}

// Key is the same of equal sequences that are Chunked, and most often another one of others.
func (s *Sequence) Key() string {
	hash := xxhash.New()
	var b [8]byte
	for _, v := range s.Values {
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		_, _ = hash.Write(b[:]) // never fails
	}
	key := binary.LittleEndian.AppendUint64(nil, hash.Sum64())
	for _, c := range s.Chunks {
		key = append(key, c.summary.Sum[:]...)
	}
	return string(key)
}

// A SequenceTable has distinct sequences in order of first use. The zero value is empty.
type SequenceTable struct {
	List  []Sequence
	index map[string][]int32
}

// Add enters a sequence, if it is not there yet, and gives its number.
func (t *SequenceTable) Add(s Sequence) int32 {
	s = s.Chunked()
	key := s.Key()
	for _, i := range t.index[key] {
		if slices.Equal(t.List[i].Values, s.Values) {
			return i
		}
	}
	if t.index == nil {
		t.index = map[string][]int32{}
	}
	i := int32(len(t.List))
	t.List = append(t.List, s)
	t.index[key] = append(t.index[key], i)
	return i
}
