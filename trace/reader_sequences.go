package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A sequenceBlock holds the encodings of sequences.
type sequenceBlock struct {
	numbers  []int64        // of the sequences, increasing; nil: they are consecutive
	readings []clockReading // of clock readings, how they are told
	bytes    []byte
	ends     []int64
}

// sequenceBytes is the encoding of one value sequence, and how its values are told.
func (t *Reader) sequenceBytes(i int) ([]byte, clockReading, error) {
	if i < 0 || i >= t.sequenceCount {
		return nil, clockReading{}, fmt.Errorf("trace: no value sequence %d", i)
	}
	if b := t.inline.sequence(i); len(b) > 0 {
		return b, clockReading{}, nil
	}
	block, at, err := t.blockWith(t.sequenceBlocks, int64(i))
	if b := block.sequence(at); len(b) > 0 || err != nil {
		return b, clockReading{}, err
	}
	block, at, err = t.blockWith(t.clockBlocks, int64(i))
	b := block.sequence(at)
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("trace: value sequence %d: missing", i)
	}
	if err != nil {
		return nil, clockReading{}, err
	}
	return b, block.readings[at], nil
}

// blockWith finds the block that a sequence may be in, and its place there; −1 if it is not.
func (t *Reader) blockWith(blocks []codec.Entry, i int64) (*sequenceBlock, int, error) {
	k, exact := slices.BinarySearchFunc(blocks, i, func(e codec.Entry, i int64) int { return cmp.Compare(e.Key, i) })
	if !exact {
		k--
	}
	if k < 0 {
		return nil, -1, nil
	}
	e := blocks[k]
	t.mu.Lock()
	defer t.mu.Unlock()
	block, loaded := t.sequences[e.Offset]
	if !loaded {
		var err error
		if block, err = t.loadSequences(e); err != nil {
			return nil, -1, fmt.Errorf("trace: value sequences from %d: %w", e.Key, err)
		}
		t.sequences[e.Offset] = block
	}
	at, found := int(i-e.Key), true
	if e.Kind == blockClockReadings {
		at, found = slices.BinarySearch(block.numbers, i)
	}
	if !found {
		at = -1
	}
	return &block, at, nil
}

// sequence is the encoding of a sequence by its place in the block; nil if there is none.
func (b *sequenceBlock) sequence(at int) []byte {
	if b == nil || at < 0 || at >= len(b.ends) {
		return nil
	}
	start := int64(0)
	if at > 0 {
		start = b.ends[at-1]
	}
	return b.bytes[start:b.ends[at]]
}

func (t *Reader) loadSequences(e codec.Entry) (sequenceBlock, error) {
	content, err := t.block(e)
	if err != nil {
		return sequenceBlock{}, err
	}
	return t.splitSequences(content, e.Kind == blockClockReadings)
}

func (t *Reader) splitSequences(content []byte, numbered bool) (sequenceBlock, error) {
	d := newDecoder(content, t.budget)
	var numbers []int64
	var readings []clockReading
	if numbered {
		numbers, readings = d.clockForms()
	}
	ends := d.Sequence()
	if numbers != nil && len(numbers) != len(ends) {
		d.Fail(codec.ErrSequence)
		ends = nil
	}
	var end int64
	for i, n := range ends {
		if n < 0 || n > int64(len(d.Rest))-end {
			d.Fail(codec.ErrSequence)
			break
		}
		end += n
		ends[i] = end
	}
	return sequenceBlock{numbers, readings, d.Rest, ends}, d.Err
}
