package codec

import "math"

// Lists of integers and columns of tables in the encoding of the format.

// A ListTable numbers distinct lists of integers in order of first use.
type ListTable struct {
	numbers map[string]int
	Lists   [][]int64
}

// NewListTable returns an empty table.
func NewListTable() *ListTable { return &ListTable{numbers: map[string]int{}} }

// Index returns the number of a list; a new list gets the next one.
func (t *ListTable) Index(list []int64) int {
	key := string(appendPieces(nil, list))
	i, known := t.numbers[key]
	if !known {
		i = len(t.Lists)
		t.numbers[key] = i
		t.Lists = append(t.Lists, list)
	}
	return i
}

// AppendLists writes the lengths of the lists, then the lists grouped by length: long ones as a
// sequence each, short ones position by position.
func AppendLists(b []byte, lists [][]int64) []byte { return Smallest.appendLists(b, lists) }

func (p Effort) appendLists(b []byte, lists [][]int64) []byte {
	return p.appendListsOf(b, len(lists), func(i int) int { return len(lists[i]) }, func(i int) []int64 { return lists[i] })
}

// AppendColumns is AppendLists for columns. It expands one of them at a time.
func AppendColumns(b []byte, columns []Numbers) []byte {
	var values []int64
	return Smallest.appendListsOf(b, len(columns), func(i int) int { return columns[i].Len() }, func(i int) []int64 {
		values = columns[i].Values(values[:0])
		return values
	})
}

// appendListsOf writes n lists. The result of list is valid until it is called again.
func (p Effort) appendListsOf(b []byte, n int, length func(i int) int, list func(i int) []int64) []byte {
	lengths := make([]int64, n)
	for i := range lengths {
		lengths[i] = int64(length(i))
	}
	b = p.appendSequence(b, lengths)
	for _, group := range groupLists(lengths) {
		if n := int(lengths[group[0]]); n > len(group) {
			for _, i := range group {
				b = p.appendSequence(b, list(i))
			}
		} else {
			all := make([]int64, n*len(group))
			for j, i := range group {
				for k, v := range list(i) {
					all[k*len(group)+j] = v
				}
			}
			b = p.appendSequence(b, all)
		}
	}
	return b
}

// groupLists returns the indices of the lists of each length except 0, with lengths in order of
// first use.
func groupLists(lengths []int64) [][]int {
	var groups [][]int
	place := map[int64]int{}
	for i, n := range lengths {
		if n == 0 {
			continue
		}
		k, known := place[n]
		if !known {
			k = len(groups)
			place[n] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return groups
}

// Lists reads what AppendLists wrote.
func (d *Decoder) Lists() [][]int64 {
	lengths := d.Sequence()
	if !d.Temporary(int64(len(lengths)) * 40) {
		return nil
	}
	lists := make([][]int64, len(lengths))
	for _, group := range groupLists(lengths) {
		n := lengths[group[0]]
		switch {
		case n < 0 || n > math.MaxInt32:
			d.Fail(ErrNumber)
		case int(n) > len(group):
			for _, i := range group {
				lists[i] = d.Column(int(n))
			}
		default:
			if !d.Temporary(n * int64(len(group)) * 8) {
				return nil
			}
			all := d.Column(int(n) * len(group))
			mine := make([]int64, len(all))
			for j, i := range group {
				lists[i] = mine[j*int(n) : (j+1)*int(n) : (j+1)*int(n)]
				for k := range lists[i] {
					lists[i][k] = all[k*len(group)+j]
				}
			}
		}
		if d.Err != nil {
			return nil
		}
	}
	return lists
}

// Columns reads what AppendColumns wrote.
func (d *Decoder) Columns() []Numbers {
	lengths := d.Sequence()
	if !d.Budget.Take(int64(len(lengths)) * 72) {
		d.Fail(ErrMemory)
		return nil
	}
	columns := make([]Numbers, len(lengths))
	for _, group := range groupLists(lengths) {
		n := lengths[group[0]]
		switch {
		case n < 0 || n > math.MaxInt32 || n > math.MaxInt32/int64(len(group)):
			d.Fail(ErrNumber)
		case int(n) > len(group):
			for _, i := range group {
				columns[i] = d.Numbers(int(n))
			}
		default:
			if !d.Budget.Take(n * int64(len(group)) * 16) {
				d.Fail(ErrMemory)
				return nil
			}
			for j, v := range d.Column(int(n) * len(group)) {
				columns[group[j%len(group)]].Push(v)
			}
		}
		if d.Err != nil {
			return nil
		}
	}
	return columns
}

// Int64s converts a list to the element type of sequences.
func Int64s[T int | int32 | uint32](list []T) []int64 {
	all := make([]int64, len(list))
	for i, x := range list {
		all[i] = int64(x)
	}
	return all
}
