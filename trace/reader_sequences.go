package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// A sequenceBlock holds the encodings of sequences.
type sequenceBlock struct {
	numbers []int64 // of the sequences, increasing; nil: they are consecutive
	bytes   []byte
	ends    []int64
}

// sequenceBytes is the encoding of one value sequence.
func (t *Reader) sequenceBytes(i int) ([]byte, error) {
	if i < 0 || i >= t.sequenceCount {
		return nil, fmt.Errorf("trace: no value sequence %d", i)
	}
	b, err := t.sequenceIn(t.sequenceBlocks, int64(i))
	if err == nil && len(b) == 0 {
		b, err = t.sequenceIn(t.clockBlocks, int64(i))
	}
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("trace: value sequence %d: missing", i)
	}
	return b, err
}

// sequenceIn finds the encoding of a sequence among blocks that are sorted by their first sequence; none if it is not
// there.
func (t *Reader) sequenceIn(blocks []indexEntry, i int64) ([]byte, error) {
	k, exact := slices.BinarySearchFunc(blocks, i, func(e indexEntry, i int64) int { return cmp.Compare(e.key, i) })
	if !exact {
		k--
	}
	if k < 0 {
		return nil, nil
	}
	e := blocks[k]
	t.mu.Lock()
	defer t.mu.Unlock()
	block, loaded := t.sequences[e.offset]
	if !loaded {
		var err error
		if block, err = t.loadSequences(e); err != nil {
			return nil, fmt.Errorf("trace: value sequences from %d: %w", e.key, err)
		}
		t.sequences[e.offset] = block
	}
	at, found := int(i-e.key), true
	if e.kind == blockClockReadings {
		at, found = slices.BinarySearch(block.numbers, i)
	}
	if !found || at >= len(block.ends) {
		return nil, nil
	}
	start := int64(0)
	if at > 0 {
		start = block.ends[at-1]
	}
	return block.bytes[start:block.ends[at]], nil
}

func (t *Reader) loadSequences(e indexEntry) (sequenceBlock, error) {
	content, err := t.block(e)
	if err != nil {
		return sequenceBlock{}, err
	}
	d := decoder{b: content, budget: t.budget}
	var numbers []int64
	if e.kind == blockClockReadings {
		numbers = d.sequence()
	}
	ends := d.sequence()
	if numbers != nil && len(numbers) != len(ends) {
		d.fail(errSequence)
		ends = nil
	}
	var end int64
	for i, n := range ends {
		if n < 0 || n > int64(len(d.b))-end {
			d.fail(errSequence)
			break
		}
		end += n
		ends[i] = end
	}
	return sequenceBlock{numbers, d.b, ends}, d.err
}
