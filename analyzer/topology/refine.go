package topology

// A partition divides the vertices of two graphs of the same order, taken as one graph, into cells
// such that an isomorphism between the two can only map a vertex to one of the same cell. Vertices
// 0 … n−1 are the first graph's, n … 2n−1 the second's. Refinement (Hopcroft's, by counts of
// neighbors; also called color refinement or the one-dimensional Weisfeiler–Leman algorithm) splits
// cells until all vertices of a cell have equally many neighbors in every cell. A cell with
// different numbers of vertices of the two graphs proves that there is no isomorphism.
type partition struct {
	a, b *Graph
	n    int

	elements []int32 // sorted by cell
	place    []int32 // index of a vertex in elements
	cell     []int32 // of a vertex
	start    []int32 // of a cell, index into elements
	length   []int32
	trail    []split // splits, oldest first, to be undone

	// scratch of refine
	queue   []int32
	queued  []bool
	count   []int32 // neighbors in the splitting cell
	touched [][]int32
	hit     []int32 // cells with touched vertices
}

// A split moved the elements of cell made out of cell from, at its end.
type split struct{ from, made int32 }

func newPartition(a, b *Graph) *partition {
	n := a.Order()
	p := &partition{
		a: a, b: b, n: n,
		elements: make([]int32, 2*n), place: make([]int32, 2*n), cell: make([]int32, 2*n), count: make([]int32, 2*n),
	}
	for v := range p.elements {
		p.elements[v], p.place[v] = int32(v), int32(v)
	}
	p.addCell(0, int32(2*n))
	return p
}

func (p *partition) addCell(start, length int32) int32 {
	p.start, p.length = append(p.start, start), append(p.length, length)
	p.queued, p.touched = append(p.queued, false), append(p.touched, nil)
	return int32(len(p.start) - 1)
}

func (p *partition) neighbors(v int32) ([]int32, int32) {
	if int(v) < p.n {
		return p.a.neighbors[v], 0
	}
	return p.b.neighbors[int(v)-p.n], int32(p.n)
}

func (p *partition) members(c int32) []int32 {
	return p.elements[p.start[c] : p.start[c]+p.length[c]]
}

// balanced reports whether both graphs have equally many vertices in the cell.
func (p *partition) balanced(c int32) bool {
	first := 0
	for _, v := range p.members(c) {
		if int(v) < p.n {
			first++
		}
	}
	return 2*first == int(p.length[c])
}

func (p *partition) enqueue(c int32) {
	if !p.queued[c] {
		p.queued[c] = true
		p.queue = append(p.queue, c)
	}
}

// separate makes a cell of the given vertices of c, a proper subset, and returns it.
func (p *partition) separate(c int32, vertices []int32) int32 {
	end := p.start[c] + p.length[c]
	for _, v := range vertices {
		end--
		other := p.elements[end]
		p.elements[p.place[v]], p.elements[end] = other, v
		p.place[other], p.place[v] = p.place[v], end
	}
	p.length[c] -= int32(len(vertices))
	made := p.addCell(end, int32(len(vertices)))
	for _, v := range vertices {
		p.cell[v] = made
	}
	p.trail = append(p.trail, split{c, made})
	return made
}

// undo undoes all splits but the first `to`.
func (p *partition) undo(to int) {
	for len(p.trail) > to {
		s := p.trail[len(p.trail)-1]
		p.trail = p.trail[:len(p.trail)-1]
		for _, v := range p.members(s.made) {
			p.cell[v] = s.from
		}
		p.length[s.from] += p.length[s.made]
		last := len(p.start) - 1 // in the reverse order of creation
		p.start, p.length, p.queued, p.touched = p.start[:last], p.length[:last], p.queued[:last], p.touched[:last]
	}
}

// individualize asserts that u of the first graph is mapped to v (a vertex of the second, from n
// on), both of one cell with more than these two, and refines.
func (p *partition) individualize(u, v int32) bool {
	made := p.separate(p.cell[u], []int32{u, v})
	p.enqueue(made)
	return p.refine()
}

// refine splits until nothing changes. It returns false if the graphs are not isomorphic under the
// assertions.
func (p *partition) refine() bool {
	possible := true
	for len(p.queue) > 0 {
		splitter := p.queue[len(p.queue)-1]
		p.queue = p.queue[:len(p.queue)-1]
		p.queued[splitter] = false
		if possible {
			possible = p.splitBy(splitter)
		}
	}
	return possible
}

// splitBy splits all cells by the number of neighbors in one cell.
func (p *partition) splitBy(splitter int32) bool {
	for _, v := range p.members(splitter) {
		list, offset := p.neighbors(v)
		for _, w := range list {
			w += offset
			if p.count[w] == 0 {
				c := p.cell[w]
				if len(p.touched[c]) == 0 {
					p.hit = append(p.hit, c)
				}
				p.touched[c] = append(p.touched[c], w)
			}
			p.count[w]++
		}
	}
	possible := true
	for _, c := range p.hit {
		if possible {
			possible = p.splitCell(c)
		}
		for _, v := range p.touched[c] {
			p.count[v] = 0
		}
		p.touched[c] = p.touched[c][:0]
	}
	p.hit = p.hit[:0]
	return possible
}

// splitCell divides a cell by the counts of its touched vertices; untouched ones have count 0.
func (p *partition) splitCell(c int32) bool {
	byCount := groups(p.touched[c], p.count)
	untouched := int(p.length[c]) - len(p.touched[c])
	if untouched == 0 {
		// the last group stays in the cell, so that it is never empty
		byCount = byCount[:len(byCount)-1]
	}
	if len(byCount) == 0 {
		return true
	}
	largest, wasQueued := c, p.queued[c]
	made := make([]int32, 0, len(byCount)+1)
	for _, group := range byCount {
		m := p.separate(c, group)
		if !p.balanced(m) {
			return false
		}
		made = append(made, m)
	}
	if !p.balanced(c) {
		return false
	}
	for _, m := range made {
		if p.length[m] > p.length[largest] {
			largest = m
		}
	}
	// all but the largest part split others; the whole cell's effect follows from the rest
	// (Hopcroft)
	for _, m := range append(made, c) {
		if m != largest || wasQueued {
			p.enqueue(m)
		}
	}
	return true
}

// groups sorts vertices by count and returns the runs of equal count.
func groups(vertices []int32, count []int32) [][]int32 {
	first, uniform := count[vertices[0]], true
	for _, v := range vertices {
		if count[v] != first {
			uniform = false
			break
		}
	}
	if uniform {
		return [][]int32{vertices}
	}
	byCount := map[int32][]int32{}
	var order []int32
	for _, v := range vertices {
		if byCount[count[v]] == nil {
			order = append(order, count[v])
		}
		byCount[count[v]] = append(byCount[count[v]], v)
	}
	all := make([][]int32, 0, len(order))
	for _, n := range order {
		all = append(all, byCount[n])
	}
	return all
}
