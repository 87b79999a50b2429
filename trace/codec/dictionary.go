package codec

import "encoding/binary"

// A StringTable numbers strings in order of first use.
type StringTable struct {
	numbers map[string]int
	list    []string
}

func newStringTable() *StringTable { return &StringTable{numbers: map[string]int{}} }

// Index returns the number of s; a new string gets the next one.
func (t *StringTable) Index(s string) int {
	i, known := t.numbers[s]
	if !known {
		i = len(t.list)
		t.numbers[s] = i
		t.list = append(t.list, s)
	}
	return i
}

// append writes the number of strings, their lengths, then their bytes.
func (t *StringTable) append(b []byte) []byte {
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
func (d *Decoder) stringList() []string {
	n := d.Uvarint()
	if n > uint64(len(d.Rest)) {
		d.Fail(errTruncated)
		return nil
	}
	if !d.Budget.Take(int64(n)*24 + int64(len(d.Rest))) {
		d.Fail(ErrMemory)
		return nil
	}
	lengths := make([]uint64, n)
	for i := range lengths {
		lengths[i] = d.Uvarint()
	}
	list := make([]string, n)
	for i := range list {
		list[i] = string(d.Bytes(lengths[i]))
	}
	return list
}

// A StringDictionary numbers distinct strings in order of first use.
type StringDictionary struct {
	List []string
	ids  map[string]int64
}

// Index returns the number of s; a new string gets the next one.
func (d *StringDictionary) Index(s string) int64 {
	if i, known := d.ids[s]; known {
		return i
	}
	if d.ids == nil {
		d.ids = map[string]int64{}
		for i, have := range d.List { // List was filled by a reader
			d.ids[have] = int64(i)
		}
		return d.Index(s)
	}
	i := int64(len(d.List))
	d.ids[s] = i
	d.List = append(d.List, s)
	return i
}

// A ListDictionary numbers distinct lists.
type ListDictionary[T any] struct {
	Lists [][]T
	ids   map[string]int64
	last  int64 // the latest result: most often the same list comes again
}

// Index returns the number of a list; a new list gets the next one. appendTo appends an element to
// the list's map key.
func (d *ListDictionary[T]) Index(list []T, appendTo func([]byte, *T) []byte) int64 {
	if d.ids == nil {
		d.ids = map[string]int64{}
		for i, have := range d.Lists { // Lists was filled by a reader
			d.ids[listKey(have, appendTo)] = int64(i)
		}
	} else if last := d.Lists[d.last]; len(last) == len(list) && (len(list) == 0 || &last[0] == &list[0]) {
		return d.last
	}
	key := listKey(list, appendTo)
	i, known := d.ids[key]
	if !known {
		i = int64(len(d.Lists))
		d.ids[key] = i
		d.Lists = append(d.Lists, list)
	} else if len(list) > 0 {
		d.Lists[i] = list // equal: the next list is most likely this very slice
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
