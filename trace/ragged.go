package trace

import "math"

// A ragged table has some rows for each row of another one, by column.
type ragged struct {
	first   Numbers // where the rows of each begin, and where the last one's end
	columns []Numbers
	n       int
}

func (g *ragged) begin(columns int) {
	if g.columns == nil {
		g.columns = make([]Numbers, columns)
		g.first.Push(0)
	}
}

func (g *ragged) add(columns int, row ...int64) {
	g.begin(columns)
	for k, v := range row {
		g.columns[k].Push(v)
	}
	g.n++
}

func (g *ragged) end(columns int) {
	g.begin(columns)
	g.first.Push(int64(g.n))
}

func (g *ragged) counts() []int64 {
	var counts []int64
	before := int64(0)
	for i, v := range g.first.All() {
		if i > 0 {
			counts = append(counts, v-before)
		}
		before = v
	}
	return counts
}

// starts says of each row whether it is the first of what it belongs to.
func (g *ragged) starts() []bool {
	starts := make([]bool, g.n+1)
	for _, at := range g.first.All() {
		starts[at] = true
	}
	return starts[:g.n]
}

type raggedLookup struct {
	first   numbersLookup
	columns []numbersLookup
}

func (g *ragged) lookup() *raggedLookup {
	l := &raggedLookup{first: numbersLookup{of: &g.first}, columns: make([]numbersLookup, len(g.columns))}
	for k := range l.columns {
		l.columns[k].of = &g.columns[k]
	}
	return l
}

func (l *raggedLookup) rows(i int) (from, to int) {
	if l.first.of.n == 0 {
		return 0, 0
	}
	return int(l.first.at(i)), int(l.first.at(i + 1))
}

func (l *raggedLookup) at(column, row int) int64 { return l.columns[column].at(row) }

// ragged reads how many rows each of n rows has, then their columns.
func (d *decoder) ragged(n, columns int) ragged {
	g := d.raggedCounts(n, columns)
	for k := range g.columns {
		g.columns[k] = d.numbers(g.n)
	}
	return g
}

// raggedCounts reads how many rows each of n rows has; their columns are to be read.
func (d *decoder) raggedCounts(n, columns int) ragged {
	var g ragged
	g.begin(columns)
	counts := d.numbers(n)
	for run, count := range counts.Runs() {
		for range count {
			if run.First < 0 || run.First > math.MaxInt32 || int64(g.n)+run.First > math.MaxInt32 {
				d.fail(errNumber)
				return ragged{}
			}
			g.n += int(run.First)
			g.first.Push(int64(g.n))
			run.First += run.Step
		}
	}
	return g
}
