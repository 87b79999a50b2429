package codec

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// A value sequence grows with the number of its calls. A long one is cut into chunks, which never
// change: they are coded once, and need not all be in memory.

// SequenceChunk is the number of values of a chunk. Each upload of a shard repeats the values after
// the last chunk of every stream, so larger chunks cost more
// (docs/decisions/0089-value-streams.md).
const SequenceChunk = 1 << 14

// A Sequence is a list of values. A long one is a list of full chunks, followed by the remaining
// values.
type Sequence struct {
	Chunks []*Chunk
	Values []int64 // after the chunks
}

// Memory is the size of the sequence in bytes, without what it shares with others.
func (s *Sequence) Memory() int64 {
	n := int64(cap(s.Values)) * 8
	for _, c := range s.Chunks {
		n += ChunkBytes + int64(cap(c.coded))
	}
	return n
}

// A Chunk is SequenceChunk coded values. They are in memory, in a file, or those of another chunk
// plus a constant.
type Chunk struct {
	summary ChunkSummary

	coded []byte    // as written by AppendSequence
	file  ChunkFile // nil: none
	entry Entry
	of    *Chunk
	more  int64 // added to the values of base
}

// A ChunkSummary is what is known of a chunk without decoding it.
type ChunkSummary struct {
	Sum   [16]byte // the first half of the SHA-256 of the values; zero: not summarized yet
	First int64
	Equal bool // all values equal the first
}

// A ChunkFile stores chunks in blocks.
type ChunkFile interface {
	// Chunk reads a block. Its memory is taken from Budget.
	Chunk(e Entry) ([]byte, error)
	// Budget is the memory budget of everything that is read of a chunk.
	Budget() *Budget
}

// ChunkBytes is taken from the budget for a chunk.
const ChunkBytes = 160

// StoredChunk returns a chunk that is a block of a file.
func StoredChunk(file ChunkFile, e Entry, summary ChunkSummary) Chunk {
	return Chunk{summary: summary, file: file, entry: e}
}

// Summary returns what is known of the chunk without decoding it.
func (c *Chunk) Summary() ChunkSummary { return c.summary }

// Stored returns the block that contains the chunk, or nil if it is not in a file.
func (c *Chunk) Stored() (ChunkFile, Entry) { return c.file, c.entry }

// ErrChunk is the error of a chunk that is damaged.
var ErrChunk = errors.New("trace: damaged chunk of a value sequence")

// newChunk codes values.
func newChunk(values []int64) *Chunk {
	c := &Chunk{coded: slices.Clone(AppendSequence(nil, values))} // Clone trims the capacity
	c.describe(values)
	return c
}

// describe sets the summary.
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

// Content returns the chunk as written by AppendSequence. Its memory is taken from the budget of
// the file until Release.
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

// Release returns the memory of Content to the budget.
func (c *Chunk) Release(content []byte) {
	if c.file != nil {
		c.file.Budget().Give(int64(len(content)))
	}
}

// budget is the budget for what is decoded of the chunk.
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
	defer c.Release(content)
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

// Check reads a chunk of a file and sets its summary, unless that was done before.
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

// plus returns the chunk with more added to all values.
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

// All returns all values.
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

// Chunked returns the sequence with as many of its values in chunks as possible.
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

// Constant returns the value that all values equal; false if they differ or there are none.
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

// Plus returns the sequence with more added to all values.
func (s *Sequence) Plus(more int64) (Sequence, error) {
	sum := Sequence{Values: make([]int64, len(s.Values))}
	for i, v := range s.Values {
		sum.Values[i] = v + more
	}
	known := map[*Chunk]*Chunk{} // the chunks of a constant sequence are one and the same
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

// Read returns a reader of the values.
func (s *Sequence) Read() *ValueReader { return &ValueReader{NewSequenceStream(*s, nil)} }

// A ValueReader returns values in order.
type ValueReader struct{ stream ValueStream }

// Next returns the next value; false at the end or on an error.
func (r *ValueReader) Next() (int64, bool) { return r.stream.Next() }

// Err is the error that stopped Next before the end, if any.
func (r *ValueReader) Err() error {
	if err := r.stream.Err(); !errors.Is(err, ErrStreamEnds) {
		return fmt.Errorf("trace: value sequence: %w", err)
	}
	return nil
}

// A SequenceBuilder builds a sequence value by value. The zero value is ready to use.
type SequenceBuilder struct {
	made Sequence
	run  *Chunk // the latest chunk of equal values
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

// PushChunk adds a chunk. Everything added before must fill whole chunks.
func (b *SequenceBuilder) PushChunk(c *Chunk) { b.made.Chunks = append(b.made.Chunks, c) }

// Len is the number of values so far.
func (b *SequenceBuilder) Len() uint64 { return b.made.Len() }

// Chunks are the full chunks so far.
func (b *SequenceBuilder) Chunks() []*Chunk { return b.made.Chunks }

// Sequence returns the sequence. The builder must not be used after it.
func (b *SequenceBuilder) Sequence() Sequence {
	b.made.Values = slices.Clip(b.made.Values)
	return b.made
}

// Key is a hash of the sequence: equal for equal sequences that are Chunked, and most likely
// different for others.
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

// A SequenceTable numbers distinct sequences in order of first use. The zero value is empty.
type SequenceTable struct {
	List  []Sequence
	index map[string][]int32
}

// Add returns the number of s; a new sequence gets the next one.
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
