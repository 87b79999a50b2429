package trace

import "encoding/binary"

// A stringTable numbers strings in order of first sight.
type stringTable struct {
	numbers map[string]int
	list    []string
}

func newStringTable() *stringTable { return &stringTable{numbers: map[string]int{}} }

func (t *stringTable) index(s string) int {
	i, known := t.numbers[s]
	if !known {
		i = len(t.list)
		t.numbers[s] = i
		t.list = append(t.list, s)
	}
	return i
}

// append writes the number of strings, their lengths, then their bytes.
func (t *stringTable) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(t.list)))
	for _, s := range t.list {
		b = binary.AppendUvarint(b, uint64(len(s)))
	}
	for _, s := range t.list {
		b = append(b, s...)
	}
	return b
}

// stringList reads what stringTable.append wrote.
func (d *decoder) stringList() []string {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail(errTruncated)
		return nil
	}
	if !d.budget.take(int64(n)*24 + int64(len(d.b))) {
		d.fail(errMemory)
		return nil
	}
	lengths := make([]uint64, n)
	for i := range lengths {
		lengths[i] = d.uvarint()
	}
	list := make([]string, n)
	for i := range list {
		list[i] = string(d.bytes(lengths[i]))
	}
	return list
}
