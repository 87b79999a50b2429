package codec

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

var errIndex = errors.New("trace: damaged index")

// An Entry locates a block in a file.
type Entry struct {
	Kind   Kind
	Offset int64
	Size   int64 // of the whole block
	// Key is the number of the first sequence in a block of sequences; in a block of timing it is
	// the thread's index in Content.Threads.
	Key int64
	// Part counts the blocks of one key.
	Part int64
}

// An Index lists the blocks of a file in order. It is stored by column, since there may be one
// block per thread.
type Index struct {
	Kinds, Sizes, keys, parts, offsets Numbers
}

// Add adds an entry at the end.
func (x *Index) Add(e Entry) {
	x.Kinds.Push(int64(e.Kind))
	x.Sizes.Push(e.Size)
	x.keys.Push(e.Key)
	x.parts.Push(e.Part)
	x.offsets.Push(e.Offset)
}

// Len is the number of blocks.
func (x *Index) Len() int { return x.Kinds.Len() }

// At is the i-th entry.
func (x *Index) At(i int) Entry {
	return Entry{Kind(x.Kinds.At(i)), x.offsets.At(i), x.Sizes.At(i), x.keys.At(i), x.parts.At(i)}
}

// Append writes the entries as columns: types, sizes, keys, parts. Offsets follow from the sizes.
func (x *Index) Append(b []byte) []byte {
	var values []int64
	for _, column := range []*Numbers{&x.Kinds, &x.Sizes, &x.keys, &x.parts} {
		values = column.Values(values[:0])
		b = AppendSequence(b, values)
	}
	return b
}

// DecodeIndex reads the entries of a file whose blocks lie from begin to end, where the index
// begins.
func DecodeIndex(b []byte, begin, end int64, m *Budget) (*Index, error) {
	d := Decoder{Rest: b, Budget: m}
	head := d
	n := head.Uvarint() // of the first column
	if head.Err != nil || n > 1<<31-1 || !m.Take(int64(n)*RowBytes) {
		return nil, ErrMemory
	}
	x := &Index{Kinds: d.Numbers(int(n)), Sizes: d.Numbers(int(n)), keys: d.Numbers(int(n)), parts: d.Numbers(int(n))}
	if d.Err != nil {
		return nil, d.Err
	}
	if len(d.Rest) != 0 || !x.Kinds.Within(0, 256) || !x.Sizes.Within(0, 1<<62) || !x.keys.Within(0, 1<<62) || !x.parts.Within(0, 1<<62) {
		return nil, errIndex
	}
	offset := begin
	for _, size := range x.Sizes.All() {
		if size > end-offset {
			return nil, errIndex
		}
		x.offsets.Push(offset)
		offset += size
	}
	if offset != end {
		return nil, errIndex
	}
	if !m.Take(x.offsets.Bytes()) {
		return nil, ErrMemory
	}
	return x, nil
}

// A BlockList lists the blocks of one kind, sorted by key and part.
type BlockList struct {
	in   *Index
	Rows Numbers
}

// SortBlocks sorts the blocks in the given rows of an index. Files of this writer have them sorted
// already.
func SortBlocks(in *Index, rows Numbers) BlockList {
	compare := func(a, b int64) int {
		return cmp.Or(cmp.Compare(in.keys.At(int(a)), in.keys.At(int(b))), cmp.Compare(in.parts.At(int(a)), in.parts.At(int(b))))
	}
	key, part := in.keys.Lookup(), in.parts.Lookup()
	sorted := true
	lastKey, lastPart := int64(-1), int64(-1)
	for _, row := range rows.All() {
		k, p := key(int(row)), part(int(row))
		if k < lastKey || k == lastKey && p < lastPart {
			sorted = false
			break
		}
		lastKey, lastPart = k, p
	}
	if !sorted {
		all := rows.Values(nil)
		slices.SortStableFunc(all, compare)
		rows = NewNumbers(all...)
	}
	return BlockList{in, rows}
}

// Empty reports whether there are no blocks.
func (l *BlockList) Empty() bool { return l.Rows.Len() == 0 }

// Find returns the block with a key and part.
func (l *BlockList) Find(key, part int64) (Entry, bool) {
	i := sort.Search(l.Rows.Len(), func(i int) bool {
		row := int(l.Rows.At(i))
		k := l.in.keys.At(row)
		return k > key || k == key && l.in.parts.At(row) >= part
	})
	if i == l.Rows.Len() {
		return Entry{}, false
	}
	e := l.in.At(int(l.Rows.At(i)))
	return e, e.Key == key && e.Part == part
}
