package codec

import "math"

// A Ragged table has a variable number of rows for each row of another table (its owner). It is
// stored by column.
type Ragged struct {
	First   Numbers // index of the first row of each owner, and at last the number of rows
	Columns []Numbers
	N       int
}

// Begin makes the columns if they do not exist yet.
func (g *Ragged) Begin(columns int) {
	if g.Columns == nil {
		g.Columns = make([]Numbers, columns)
		g.First.Push(0)
	}
}

// Add adds a row to the current owner.
func (g *Ragged) Add(columns int, row ...int64) {
	g.Begin(columns)
	for k, v := range row {
		g.Columns[k].Push(v)
	}
	g.N++
}

// End ends the rows of the current owner.
func (g *Ragged) End(columns int) {
	g.Begin(columns)
	g.First.Push(int64(g.N))
}

// Counts returns the number of rows of each owner.
func (g *Ragged) Counts() []int64 {
	var counts []int64
	before := int64(0)
	for i, v := range g.First.All() {
		if i > 0 {
			counts = append(counts, v-before)
		}
		before = v
	}
	return counts
}

// Starts reports for each row whether it is the first of its owner.
func (g *Ragged) Starts() []bool {
	starts := make([]bool, g.N+1)
	for _, at := range g.First.All() {
		starts[at] = true
	}
	return starts[:g.N]
}

// A RaggedLookup is a cursor: it finds rows that are near to the previous ones quickly.
type RaggedLookup struct {
	first   NumbersLookup
	Columns []NumbersLookup
}

// Lookup returns a cursor that is valid until the table grows.
func (g *Ragged) Lookup() *RaggedLookup {
	l := &RaggedLookup{first: NumbersLookup{Of: &g.First}, Columns: make([]NumbersLookup, len(g.Columns))}
	for k := range l.Columns {
		l.Columns[k].Of = &g.Columns[k]
	}
	return l
}

// Rows returns the range [from, to) of the rows of owner i.
func (l *RaggedLookup) Rows(i int) (from, to int) {
	if l.first.Of.n == 0 {
		return 0, 0
	}
	return int(l.first.At(i)), int(l.first.At(i + 1))
}

// At returns the value in a column of a row.
func (l *RaggedLookup) At(column, row int) int64 { return l.Columns[column].At(row) }

// Ragged reads the number of rows of each of n owners, then the columns.
func (d *Decoder) Ragged(n, columns int) Ragged {
	g := d.RaggedCounts(n, columns)
	for k := range g.Columns {
		g.Columns[k] = d.Numbers(g.N)
	}
	return g
}

// RaggedCounts reads the number of rows of each of n owners. The caller reads the columns.
func (d *Decoder) RaggedCounts(n, columns int) Ragged {
	var g Ragged
	g.Begin(columns)
	counts := d.Numbers(n)
	for run, count := range counts.Runs() {
		for range count {
			if run.First < 0 || run.First > math.MaxInt32 || int64(g.N)+run.First > math.MaxInt32 {
				d.Fail(ErrNumber)
				return Ragged{}
			}
			g.N += int(run.First)
			g.First.Push(int64(g.N))
			run.First += run.Step
		}
	}
	return g
}
