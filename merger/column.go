package merger

// A column holds a number for each thread of a shape, in order of arrival, as arithmetic progressions: what is equal
// on all ranks, or grows with the rank, costs no memory.
type column struct {
	runs []progression
	n    int
}

type progression struct {
	first, step int64
	count       int
}

func (c *column) push(v int64) { c.pushAll(v, 1) }

// pushAll appends v n times.
func (c *column) pushAll(v int64, n int) {
	if n == 0 {
		return
	}
	c.n += n
	if k := len(c.runs); k > 0 {
		last := &c.runs[k-1]
		switch {
		case last.count == 1 && n == 1:
			last.step = v - last.first
			last.count++
			return
		case (last.count == 1 || last.step == 0) && v == last.first:
			last.step = 0
			last.count += n
			return
		case n == 1 && v == last.first+last.step*int64(last.count):
			last.count++
			return
		}
	}
	c.runs = append(c.runs, progression{v, 0, n})
}

// values expands the column.
func (c *column) values() []int64 {
	values := make([]int64, 0, c.n)
	for _, r := range c.runs {
		v := r.first
		for range r.count {
			values = append(values, v)
			v += r.step
		}
	}
	return values
}

// constant tells whether all values are the same, and which.
func (c *column) constant() (int64, bool) {
	if len(c.runs) == 0 {
		return 0, false
	}
	v := c.runs[0].first
	for _, r := range c.runs {
		if r.first != v || r.step != 0 && r.count > 1 {
			return 0, false
		}
	}
	return v, true
}

// at is the value of one row.
func (c *column) at(row int) int64 {
	for _, r := range c.runs {
		if row < r.count {
			return r.first + int64(row)*r.step
		}
		row -= r.count
	}
	panic("merger: no such row")
}
