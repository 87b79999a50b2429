package topology

import "slices"

// A Graph is a simple undirected graph of the ranks that communicate, in either direction. Vertices
// are 0 … Order()−1.
type Graph struct {
	neighbors [][]int32 // ascending
	edges     int
}

// NewGraph returns a graph with n vertices, without loops and duplicate edges.
func NewGraph(n int, edges func(yield func(u, v int) bool)) *Graph {
	g := &Graph{neighbors: make([][]int32, n)}
	for u, v := range edges {
		if u != v {
			g.neighbors[u] = append(g.neighbors[u], int32(v))
			g.neighbors[v] = append(g.neighbors[v], int32(u))
		}
	}
	for v, list := range g.neighbors {
		slices.Sort(list)
		g.neighbors[v] = slices.Compact(list)
		g.edges += len(g.neighbors[v])
	}
	g.edges /= 2
	return g
}

// Order is the number of vertices.
func (g *Graph) Order() int { return len(g.neighbors) }

// Size is the number of edges.
func (g *Graph) Size() int { return g.edges }

// Neighbors of a vertex, ascending; the caller does not change them.
func (g *Graph) Neighbors(v int) []int32 { return g.neighbors[v] }

// Adjacent reports whether there is an edge between u and v.
func (g *Graph) Adjacent(u, v int) bool {
	_, found := slices.BinarySearch(g.neighbors[u], int32(v))
	return found
}

// degrees returns the degrees of all vertices, largest first: the invariant of the paper's second
// test.
func (g *Graph) degrees() []int {
	d := make([]int, g.Order())
	for v := range d {
		d[v] = len(g.neighbors[v])
	}
	slices.SortFunc(d, func(a, b int) int { return b - a })
	return d
}

// components returns the connected parts with at least one edge, each ascending, in the order of
// their lowest vertex.
func (g *Graph) components() [][]int {
	seen := make([]bool, g.Order())
	var all [][]int
	for start := range seen {
		if seen[start] || len(g.neighbors[start]) == 0 {
			continue
		}
		seen[start] = true
		part := []int{start}
		for i := 0; i < len(part); i++ {
			for _, v := range g.neighbors[part[i]] {
				if !seen[v] {
					seen[v] = true
					part = append(part, int(v))
				}
			}
		}
		slices.Sort(part)
		all = append(all, part)
	}
	return all
}

// induced returns the subgraph of the given vertices, which become 0 … in the order given.
func (g *Graph) induced(vertices []int) *Graph {
	number := make(map[int32]int, len(vertices))
	for i, v := range vertices {
		number[int32(v)] = i
	}
	return NewGraph(len(vertices), func(yield func(u, v int) bool) {
		for i, u := range vertices {
			for _, w := range g.neighbors[u] {
				if j, inside := number[w]; inside && i < j && !yield(i, j) {
					return
				}
			}
		}
	})
}
