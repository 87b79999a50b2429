package codec

import "math"

// A Ragged table has some rows for each row of another one, by column.
type Ragged struct {
	First   Numbers // where the rows of each begin, and where the last one's end
	Columns []Numbers
	N       int
}

// Begin makes the columns, if they are not there yet.
func (g *Ragged) Begin(columns int) {
	if g.Columns == nil {
		g.Columns = make([]Numbers, columns)
		g.First.Push(0)
	}
}

// Add adds a row to those of the row of the other table that is not ended yet.
func (g *Ragged) Add(columns int, row ...int64) {
	g.Begin(columns)
	for k, v := range row {
		g.Columns[k].Push(v)
	}
	g.N++
}

// End ends the rows of a row of the other table.
func (g *Ragged) End(columns int) {
	g.Begin(columns)
	g.First.Push(int64(g.N))
}

// Counts is how many rows each row of the other table has.
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

// Starts says of each row whether it is the first of what it belongs to.
func (g *Ragged) Starts() []bool {
	starts := make([]bool, g.N+1)
	for _, at := range g.First.All() {
		starts[at] = true
	}
	return starts[:g.N]
}

// A RaggedLookup finds rows that are near to each other.
type RaggedLookup struct {
	first   NumbersLookup
	Columns []NumbersLookup
}

// Lookup makes one, for as long as the table does not grow.
func (g *Ragged) Lookup() *RaggedLookup {
	l := &RaggedLookup{first: NumbersLookup{Of: &g.First}, Columns: make([]NumbersLookup, len(g.Columns))}
	for k := range l.Columns {
		l.Columns[k].Of = &g.Columns[k]
	}
	return l
}

// Rows are those of the i-th row of the other table: from one on, before another.
func (l *RaggedLookup) Rows(i int) (from, to int) {
	if l.first.Of.n == 0 {
		return 0, 0
	}
	return int(l.first.At(i)), int(l.first.At(i + 1))
}

// At is the number in a column of a row.
func (l *RaggedLookup) At(column, row int) int64 { return l.Columns[column].At(row) }

// Ragged reads how many rows each of n rows has, then their columns.
func (d *Decoder) Ragged(n, columns int) Ragged {
	g := d.RaggedCounts(n, columns)
	for k := range g.Columns {
		g.Columns[k] = d.Numbers(g.N)
	}
	return g
}

// RaggedCounts reads how many rows each of n rows has; their columns are to be read.
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
