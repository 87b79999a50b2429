package trace

import "errors"

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

// appendIndex writes the entries as columns: types, sizes, keys, parts. Offsets follow from the sizes.
func appendIndex(b []byte, entries []indexEntry) []byte {
	column := make([]int64, len(entries))
	for _, field := range []func(e *indexEntry) int64{
		func(e *indexEntry) int64 { return int64(e.kind) },
		func(e *indexEntry) int64 { return e.size },
		func(e *indexEntry) int64 { return e.key },
		func(e *indexEntry) int64 { return e.part },
	} {
		for i := range entries {
			column[i] = field(&entries[i])
		}
		b = AppendSequence(b, column)
	}
	return b
}

// decodeIndex reads the entries of a file whose blocks end at end, where the index begins.
func decodeIndex(b []byte, end int64, m *budget) ([]indexEntry, error) {
	d := decoder{b: b, budget: m}
	kinds := d.sequence()
	sizes, keys, parts := d.column(len(kinds)), d.column(len(kinds)), d.column(len(kinds))
	if d.err != nil {
		return nil, d.err
	}
	if !m.take(int64(len(kinds)) * 40) {
		return nil, errMemory
	}
	entries := make([]indexEntry, len(kinds))
	offset := int64(headerSize)
	for i := range entries {
		if kinds[i] < 0 || kinds[i] > 255 || sizes[i] < 0 || sizes[i] > end-offset || keys[i] < 0 || parts[i] < 0 {
			return nil, errIndex
		}
		entries[i] = indexEntry{blockType(kinds[i]), offset, sizes[i], keys[i], parts[i]}
		offset += sizes[i]
	}
	if offset != end || len(d.b) != 0 {
		return nil, errIndex
	}
	m.give(int64(len(kinds)) * 32) // the columns
	return entries, nil
}
