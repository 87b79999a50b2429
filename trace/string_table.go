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

// A stringDictionary numbers distinct strings.
type stringDictionary struct {
	list []string
	ids  map[string]int64
}

func (d *stringDictionary) index(s string) int64 {
	if i, known := d.ids[s]; known {
		return i
	}
	if d.ids == nil {
		d.ids = map[string]int64{}
		for i, have := range d.list { // a reader's
			d.ids[have] = int64(i)
		}
		return d.index(s)
	}
	i := int64(len(d.list))
	d.ids[s] = i
	d.list = append(d.list, s)
	return i
}

// A listDictionary numbers distinct lists.
type listDictionary[T any] struct {
	lists [][]T
	ids   map[string]int64
	last  int64 // most often the same list comes again
}

func (d *listDictionary[T]) index(list []T, appendTo func([]byte, *T) []byte) int64 {
	if d.ids == nil {
		d.ids = map[string]int64{}
		for i, have := range d.lists { // a reader's
			d.ids[listKey(have, appendTo)] = int64(i)
		}
	} else if last := d.lists[d.last]; len(last) == len(list) && (len(list) == 0 || &last[0] == &list[0]) {
		return d.last
	}
	key := listKey(list, appendTo)
	i, known := d.ids[key]
	if !known {
		i = int64(len(d.lists))
		d.ids[key] = i
		d.lists = append(d.lists, list)
	} else if len(list) > 0 {
		d.lists[i] = list // equal; the next one is most likely this
	}
	d.last = i
	return i
}

func listKey[T any](list []T, appendTo func([]byte, *T) []byte) string {
	var b []byte
	for i := range list {
		b = appendTo(b, &list[i])
	}
	return string(b)
}
