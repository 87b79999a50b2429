package trace

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cairn-mpi/cairn/trace/codec"
)

// A chain is a trace in pieces: parts, which are stored once, and a tail, which is written anew as the trace grows. One
// after the other they are a file as Write makes it, but for the heads and ends of the parts: its index, in the tail, passes
// over these (blockSkipped).

// A Chain says where parts stand in a chain: one after the other, from its beginning on.
type Chain struct {
	places map[*Part][]chainPlace
	size   int64
}

// A chainPlace is where bytes of a part are, from one on up to another one.
type chainPlace struct{ from, to, at int64 }

// Place says where a part begins: within what is added next.
func (c *Chain) Place(p *Part, at int64) { c.PlaceBytes(p, 0, p.Size(), at) }

// PlaceBytes says where so many bytes of a part begin, from one on: one that is joined of others (JoinParts) is in several
// places.
func (c *Chain) PlaceBytes(p *Part, from, bytes, at int64) {
	if c.places == nil {
		c.places = map[*Part][]chainPlace{}
	}
	c.places[p] = append(c.places[p], chainPlace{from, from + bytes, c.size + at})
}

// find is where a block of a part stands in the chain; false if it does not.
func (c *Chain) find(p *Part, e codec.Entry) (at int64, there bool) {
	for _, in := range c.places[p] {
		if e.Offset >= in.from && e.Offset+e.Size <= in.to {
			return in.at + e.Offset - in.from, true
		}
	}
	return 0, false
}

// Add puts an object with parts, one after the other, at the end of the chain. Parts in it that have no place are of no use
// to the trace.
func (c *Chain) Add(bytes int64) { c.size += bytes }

// Size is that of all parts, in bytes.
func (c *Chain) Size() int64 { return c.size }

// WriteTail writes the tail of a chain: the trace c without the blocks that stand in parts of the chain.
func WriteTail(w io.Writer, c *Content, chain *Chain) error { return write(w, c, chain) }

// chained notes that a block of a part stands in the chain, with this key and number; false if it does not.
func (f *fileWriter) chained(p *Part, e codec.Entry, key, number int64) bool {
	at, there := f.chain.find(p, e)
	if there {
		f.before = append(f.before, codec.Entry{Kind: e.Kind, Offset: at, Size: e.Size, Key: key, Part: number})
	}
	return there
}

// chainIndex is the index of the whole chain: of the blocks in parts that the trace uses, and of those in the tail.
func (f *fileWriter) chainIndex() (*codec.Index, error) {
	slices.SortFunc(f.before, func(a, b codec.Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	all := &codec.Index{}
	at := int64(headerSize)
	skip := func(to int64) {
		if to > at {
			all.Add(codec.Entry{Kind: blockSkipped, Offset: at, Size: to - at})
			at = to
		}
	}
	for _, e := range f.before {
		if e.Offset < at {
			return nil, fmt.Errorf("trace: chain: two blocks at byte %d", e.Offset)
		}
		skip(e.Offset)
		all.Add(e)
		at += e.Size
	}
	skip(f.chain.size + int64(headerSize))
	for i := range f.index.Len() {
		e := f.index.At(i)
		e.Offset += f.chain.size
		all.Add(e)
	}
	return all, nil
}
