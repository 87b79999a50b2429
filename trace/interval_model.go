package trace

// An intervalModel is how often each symbol has been seen in one context, and the table of frequencies that symbols are
// coded with. The table follows the counts at intervals that grow (deferred summation: Moffat, Linear time adaptive
// arithmetic coding, 1990; Schindler's quasi-static models). A young context borrows from its parent, and a count
// spreads to neighbours, for intervals that have been seen once come back a little longer or shorter. All arithmetic is
// on whole numbers: docs/format.md has the same in words.
type intervalModel struct {
	parent *intervalModel
	counts []uint16 // cells: escape, exact, then symbols from base on
	base   int      // symbol of counts[2]
	total  uint32   // of counts
	seen   uint32
	next   uint32 // rebuild when so many have been seen
	step   uint16 // what one sight counts
	stride int    // to the next symbol that is as likely by nature

	cells     *int     // of all models of the block
	table     []uint16 // start of each cell's share; the last is the sum
	tableBase int
	shift     uint8      // of a place, to an index into first
	first     [64]uint16 // cell from which to look for a place
}

const (
	cellEscape, cellExact, cellSymbols = 0, 1, 2

	modelStep      = 32    // what a sight counts at first
	modelLeastStep = 8     // and after the counts have been halved a few times
	modelLimit     = 60000 // of a total
	modelBorrow    = 24    // as long as fewer have been seen, the parent's table is added
	modelLend      = 16    // sights that the parent's table counts at most
	modelTeach     = 32    // as long as fewer have been seen, the parent learns too
	modelCells     = 128   // that a model without any is worth, for its memory
	symbolBits     = 13    // of a symbol that no context knows
)

// modelSpread is what a sight counts for its neighbours, the nearest first; for the symbol itself the first once more.
var modelSpread = [9]uint16{12, 8, 6, 4, 3, 2, 1, 1, 1}

// spreadShift is by how much the spread of the n-th sight is reduced, −1 for no spread.
func spreadShift(n uint32) int {
	switch {
	case n == 0:
		return 0
	case n == 1:
		return 1
	case n < 4:
		return 2
	case n < 16:
		return 3
	}
	return -1
}

func newIntervalModel(parent *intervalModel, stride int, cells *int) *intervalModel {
	*cells += modelCells
	m := &intervalModel{parent: parent, cells: cells, stride: stride, step: modelStep, counts: make([]uint16, cellSymbols, 24)}
	m.counts[cellEscape] = modelStep / 2
	m.total = modelStep / 2
	if parent != nil && parent.table != nil {
		m.rebuild()
	}
	return m
}

// cell is where a symbol stands in the table, −1 for nowhere.
func (m *intervalModel) cell(symbol int) int {
	c := symbol - m.tableBase + cellSymbols
	if symbol == 0 {
		c = cellExact
	} else if c < cellSymbols || c >= len(m.table)-1 {
		return -1
	}
	if m.table[c] == m.table[c+1] {
		return -1
	}
	return c
}

func (m *intervalModel) encode(e *rangeEncoder, symbol int) {
	learner := m
	for ; m != nil; m = m.parent {
		if m.table == nil {
			continue
		}
		c := m.cell(symbol)
		sum := uint32(m.table[len(m.table)-1])
		if c >= 0 {
			e.encode(uint32(m.table[c]), uint32(m.table[c+1]-m.table[c]), sum)
			learner.learn(symbol, m)
			return
		}
		e.encode(0, uint32(m.table[1]), sum)
	}
	e.bits(uint32(symbol), symbolBits)
	learner.learn(symbol, nil)
}

func (m *intervalModel) decode(d *rangeDecoder) int {
	learner := m
	for ; m != nil; m = m.parent {
		if m.table == nil {
			continue
		}
		place, unit := d.where(uint32(m.table[len(m.table)-1]))
		c := int(m.first[place>>m.shift])
		for uint32(m.table[c+1]) <= place {
			c++
		}
		start := uint32(m.table[c])
		d.narrow(start, uint32(m.table[c+1])-start, unit)
		if c == cellEscape {
			continue
		}
		symbol := 0
		if c >= cellSymbols {
			symbol = m.tableBase + c - cellSymbols
		}
		learner.learn(symbol, m)
		return symbol
	}
	symbol := int(d.bits(symbolBits))
	learner.learn(symbol, nil)
	return symbol
}

// learn counts a symbol that was coded with the table of a model: m or one that it comes from.
func (m *intervalModel) learn(symbol int, coder *intervalModel) {
	for {
		escaped := m != coder && m.table != nil
		more := m != coder || m.seen < modelTeach
		m.count(symbol, escaped)
		if m.parent == nil || !more {
			return
		}
		if m == coder {
			coder = m.parent // which had no part in it
		}
		m = m.parent
	}
}

func (m *intervalModel) count(symbol int, escaped bool) {
	if escaped {
		m.add(cellEscape, m.step)
	}
	if symbol == 0 {
		m.add(cellExact, m.step)
	} else {
		m.cover(symbol)
		c := symbol - m.base + cellSymbols
		m.add(c, m.step)
		if s := spreadShift(m.seen); s >= 0 {
			m.add(c, modelSpread[0]>>s)
			for i, w := range modelSpread[1:] {
				if w >>= s; w > 0 {
					away := (i + 1) * m.stride
					if symbol > away {
						m.add(c-away, w)
					}
					m.add(c+away, w)
				}
			}
		}
	}
	if m.total > modelLimit {
		m.halve()
	}
	m.seen++
	if m.seen >= m.next {
		m.rebuild()
	}
}

func (m *intervalModel) add(cell int, n uint16) {
	m.counts[cell] += n
	m.total += uint32(n)
}

// cover makes room in counts for a symbol and those that its count spreads to.
func (m *intervalModel) cover(symbol int) {
	from, to := symbol, symbol+1
	if s := spreadShift(m.seen); s >= 0 {
		from, to = max(1, symbol-8*m.stride), symbol+8*m.stride+1
	}
	if len(m.counts) == cellSymbols {
		m.base = from
	}
	end := m.base + len(m.counts) - cellSymbols
	if from < m.base {
		wider := make([]uint16, len(m.counts)+m.base-from)
		copy(wider, m.counts[:cellSymbols])
		copy(wider[cellSymbols+m.base-from:], m.counts[cellSymbols:])
		*m.cells += m.base - from
		m.counts, m.base = wider, from
	}
	*m.cells += max(0, to-end)
	for ; end < to; end++ {
		m.counts = append(m.counts, 0)
	}
}

// halve forgets a half, at first only of the resolution: a sight counts half as much from now on.
func (m *intervalModel) halve() {
	m.total = 0
	for i, n := range m.counts {
		m.counts[i] = (n + 1) / 2
		m.total += uint32(m.counts[i])
	}
	m.step = max(m.step/2, modelLeastStep)
}

// rebuild makes the table anew.
func (m *intervalModel) rebuild() {
	m.next = m.seen + 1 + min(m.seen/8, 512)
	if m.parent != nil && m.parent.table != nil && m.seen <= modelBorrow {
		m.borrow()
	} else {
		if cap(m.table) < len(m.counts)+1 {
			m.table = make([]uint16, 0, len(m.counts)+1+len(m.counts)/4)
		}
		m.table = m.table[:len(m.counts)+1]
		m.tableBase = m.base
		sum := uint16(0)
		for i, n := range m.counts {
			m.table[i] = sum
			sum += n
		}
		m.table[len(m.counts)] = sum
	}
	m.index()
}

// borrow makes the table of counts and the parent's table. For good, when this is the last time.
func (m *intervalModel) borrow() {
	p := m.parent
	weight := uint32(modelStep) * min(p.seen, modelLend)
	sum := uint32(p.table[len(p.table)-1])
	share := func(c int) uint16 { return uint16(uint32(p.table[c+1]-p.table[c]) * weight / sum) }
	first, end := cellSymbols, len(p.table)-1
	for first < end && share(first) == 0 {
		first++
	}
	for first < end && share(end-1) == 0 {
		end--
	}
	counts, base := m.counts, m.base
	if first < end {
		from, to := p.tableBase+first-cellSymbols, p.tableBase+end-cellSymbols
		if len(counts) > cellSymbols {
			from, to = min(from, base), max(to, base+len(counts)-cellSymbols)
		}
		counts = make([]uint16, cellSymbols+to-from)
		copy(counts, m.counts[:cellSymbols])
		copy(counts[cellSymbols+max(base, from)-from:], m.counts[cellSymbols:])
		base = from
		for c := first; c < end; c++ {
			counts[p.tableBase+c-base] += share(c)
		}
	} else {
		counts = append([]uint16(nil), counts...)
	}
	counts[cellEscape] += share(cellEscape)
	counts[cellExact] += share(cellExact)
	table := make([]uint16, len(counts)+1)
	at := uint16(0)
	for i, n := range counts {
		table[i] = at
		at += n
	}
	table[len(counts)] = at
	m.table, m.tableBase = table, base
	if m.next > modelBorrow {
		*m.cells += len(counts) - len(m.counts)
		m.counts, m.base, m.total = counts, base, uint32(at)
	}
}

// index makes places quick to find.
func (m *intervalModel) index() {
	sum := m.table[len(m.table)-1]
	m.shift = 0
	for (sum-1)>>m.shift >= uint16(len(m.first)) {
		m.shift++
	}
	c := 0
	for i := 0; i <= int((sum-1)>>m.shift); i++ {
		for place := uint16(i) << m.shift; m.table[c+1] <= place; c++ {
		}
		m.first[i] = uint16(c)
	}
}
