package trace

import "math"

// Lists of integers, and columns of tables, as the format has them.

// A listTable numbers distinct lists of integers in order of first sight.
type listTable struct {
	numbers map[string]int
	lists   [][]int64
}

func newListTable() *listTable { return &listTable{numbers: map[string]int{}} }

func (t *listTable) index(list []int64) int {
	key := string(appendPieces(nil, list))
	i, known := t.numbers[key]
	if !known {
		i = len(t.lists)
		t.numbers[key] = i
		t.lists = append(t.lists, list)
	}
	return i
}

// appendLists writes the lengths of the lists, then the lists, those of one length together: long ones as a sequence
// each, short ones position by position.
func appendLists(b []byte, lists [][]int64) []byte { return smallest.appendLists(b, lists) }

func (p effort) appendLists(b []byte, lists [][]int64) []byte {
	return p.appendListsOf(b, len(lists), func(i int) int { return len(lists[i]) }, func(i int) []int64 { return lists[i] })
}

// appendColumns is appendLists for columns, one of which is expanded at a time.
func appendColumns(b []byte, columns []Numbers) []byte {
	var values []int64
	return smallest.appendListsOf(b, len(columns), func(i int) int { return columns[i].Len() }, func(i int) []int64 {
		values = columns[i].Values(values[:0])
		return values
	})
}

// appendListsOf writes n lists; what list gives is used until it is called again.
func (p effort) appendListsOf(b []byte, n int, length func(i int) int, list func(i int) []int64) []byte {
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

// groupLists gives the numbers of the lists of each length but 0, lengths in order of first sight.
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

func (d *decoder) lists() [][]int64 {
	lengths := d.sequence()
	if !d.temporary(int64(len(lengths)) * 40) {
		return nil
	}
	lists := make([][]int64, len(lengths))
	for _, group := range groupLists(lengths) {
		n := lengths[group[0]]
		switch {
		case n < 0 || n > math.MaxInt32:
			d.fail(errNumber)
		case int(n) > len(group):
			for _, i := range group {
				lists[i] = d.column(int(n))
			}
		default:
			if !d.temporary(n * int64(len(group)) * 8) {
				return nil
			}
			all := d.column(int(n) * len(group))
			mine := make([]int64, len(all))
			for j, i := range group {
				lists[i] = mine[j*int(n) : (j+1)*int(n) : (j+1)*int(n)]
				for k := range lists[i] {
					lists[i][k] = all[k*len(group)+j]
				}
			}
		}
		if d.err != nil {
			return nil
		}
	}
	return lists
}

// columns reads what appendColumns wrote.
func (d *decoder) columns() []Numbers {
	lengths := d.sequence()
	if !d.budget.take(int64(len(lengths)) * 72) {
		d.fail(errMemory)
		return nil
	}
	columns := make([]Numbers, len(lengths))
	for _, group := range groupLists(lengths) {
		n := lengths[group[0]]
		switch {
		case n < 0 || n > math.MaxInt32 || n > math.MaxInt32/int64(len(group)):
			d.fail(errNumber)
		case int(n) > len(group):
			for _, i := range group {
				columns[i] = d.numbers(int(n))
			}
		default:
			if !d.budget.take(n * int64(len(group)) * 16) {
				d.fail(errMemory)
				return nil
			}
			for j, v := range d.column(int(n) * len(group)) {
				columns[group[j%len(group)]].Push(v)
			}
		}
		if d.err != nil {
			return nil
		}
	}
	return columns
}

// numbers are those of a list in the type that sequences have.
func numbers[T int | int32 | uint32](list []T) []int64 {
	all := make([]int64, len(list))
	for i, x := range list {
		all[i] = int64(x)
	}
	return all
}
