package trace

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

var errIndex = errors.New("trace: damaged index")

// An indexEntry says where a block is.
type indexEntry struct {
	kind   blockType
	offset int64
	size   int64 // of the whole block
	// key: of a block of sequences, the number of the first; of timing, the thread's position in Content.Threads
	key int64
	// part counts the blocks of one key
	part int64
}

// An index lists the blocks of a file in their order, by column: there may be one for each thread.
type index struct {
	kinds, sizes, keys, parts, offsets Numbers
}

func (x *index) add(e indexEntry) {
	x.kinds.Push(int64(e.kind))
	x.sizes.Push(e.size)
	x.keys.Push(e.key)
	x.parts.Push(e.part)
	x.offsets.Push(e.offset)
}

func (x *index) len() int { return x.kinds.Len() }

func (x *index) at(i int) indexEntry {
	return indexEntry{blockType(x.kinds.At(i)), x.offsets.At(i), x.sizes.At(i), x.keys.At(i), x.parts.At(i)}
}

// append writes the entries as columns: types, sizes, keys, parts. Offsets follow from the sizes.
func (x *index) append(b []byte) []byte {
	var values []int64
	for _, column := range []*Numbers{&x.kinds, &x.sizes, &x.keys, &x.parts} {
		values = column.Values(values[:0])
		b = AppendSequence(b, values)
	}
	return b
}

// decodeIndex reads the entries of a file whose blocks go from begin to end, where the index begins.
func decodeIndex(b []byte, begin, end int64, m *budget) (*index, error) {
	d := decoder{b: b, budget: m}
	head := d
	n := head.uvarint() // of the first column
	if head.err != nil || n > 1<<31-1 || !m.take(int64(n)*rowBytes) {
		return nil, errMemory
	}
	x := &index{kinds: d.numbers(int(n)), sizes: d.numbers(int(n)), keys: d.numbers(int(n)), parts: d.numbers(int(n))}
	if d.err != nil {
		return nil, d.err
	}
	if len(d.b) != 0 || !x.kinds.Within(0, 256) || !x.sizes.Within(0, 1<<62) || !x.keys.Within(0, 1<<62) || !x.parts.Within(0, 1<<62) {
		return nil, errIndex
	}
	offset := begin
	for _, size := range x.sizes.All() {
		if size > end-offset {
			return nil, errIndex
		}
		x.offsets.Push(offset)
		offset += size
	}
	if offset != end {
		return nil, errIndex
	}
	if !m.take(x.offsets.bytes()) {
		return nil, errMemory
	}
	return x, nil
}

// A blockList lists the blocks of one kind, sorted by key and part.
type blockList struct {
	in   *index
	rows Numbers
}

// sortBlocks sorts the blocks in these rows of an index, which are sorted already in files of this writer.
func sortBlocks(in *index, rows Numbers) blockList {
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
	return blockList{in, rows}
}

func (l *blockList) empty() bool { return l.rows.Len() == 0 }

// find is the block with a key and part.
func (l *blockList) find(key, part int64) (indexEntry, bool) {
	i := sort.Search(l.rows.Len(), func(i int) bool {
		row := int(l.rows.At(i))
		k := l.in.keys.At(row)
		return k > key || k == key && l.in.parts.At(row) >= part
	})
	if i == l.rows.Len() {
		return indexEntry{}, false
	}
	e := l.in.at(int(l.rows.At(i)))
	return e, e.key == key && e.part == part
}
