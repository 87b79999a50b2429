package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// A chain is a trace in pieces: parts, which are stored once, and a tail, which is written anew as the trace grows. One
// after the other they are a file as Write makes it, but for the heads and ends of the parts: its index, in the tail, passes
// over these (blockSkipped).

// A Chain says where parts stand in a chain: one after the other, from its beginning on.
type Chain struct {
	places map[*Part]int64
	size   int64
}

// Place says where a part begins: within what is added next.
func (c *Chain) Place(p *Part, at int64) {
	if c.places == nil {
		c.places = map[*Part]int64{}
	}
	c.places[p] = c.size + at
}

// Add puts an object with parts, one after the other, at the end of the chain. Parts in it that have no place are of no use
// to the trace.
func (c *Chain) Add(bytes int64) { c.size += bytes }

// Size is that of all parts, in bytes.
func (c *Chain) Size() int64 { return c.size }

// WriteTail writes the tail of a chain: the trace c without the blocks that stand in parts of the chain.
func WriteTail(w io.Writer, c *Content, chain *Chain) error { return write(w, c, chain) }

// chained notes that a block of a part stands in the chain, with this key and number; false if it does not.
func (f *fileWriter) chained(p *Part, e indexEntry, key, number int64) bool {
	at, there := f.chain.places[p]
	if there {
		f.before = append(f.before, indexEntry{e.kind, at + e.offset, e.size, key, number})
	}
	return there
}

// chainIndex is the index of the whole chain: of the blocks in parts that the trace uses, and of those in the tail.
func (f *fileWriter) chainIndex() (*index, error) {
	slices.SortFunc(f.before, func(a, b indexEntry) int { return cmp.Compare(a.offset, b.offset) })
	all := &index{}
	at := int64(headerSize)
	skip := func(to int64) {
		if to > at {
			all.add(indexEntry{kind: blockSkipped, offset: at, size: to - at})
			at = to
		}
	}
	for _, e := range f.before {
		if e.offset < at {
			return nil, fmt.Errorf("trace: chain: two blocks at byte %d", e.offset)
		}
		skip(e.offset)
		all.add(e)
		at += e.size
	}
	skip(f.chain.size + int64(headerSize))
	for i := range f.index.len() {
		e := f.index.at(i)
		e.offset += f.chain.size
		all.add(e)
	}
	return all, nil
}
