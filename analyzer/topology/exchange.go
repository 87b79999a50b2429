package topology

import (
	"fmt"
	"math/bits"
)

func allToAll(n int) []*Pattern {
	if n < 3 {
		return nil
	}
	return []*Pattern{{
		Family: AllToAll, Name: fmt.Sprintf("all-to-all of %d", n), Order: n, size: n * (n - 1) / 2, transitive: true,
		neighbors: func(v int, yield func(int, string)) {
			for w := range n {
				if w != v {
					yield(w, fmt.Sprintf("+%d", (w-v+n)%n))
				}
			}
		},
	}}
}

// masters returns patterns of k masters, the first ranks, and workers of all of them; one master is
// the ordinary case.
func masters(n int) []*Pattern {
	var all []*Pattern
	for k := 1; k <= n/2; k++ {
		if k == 1 && n < 4 {
			continue // a line
		}
		p := &Pattern{Family: Masters, Name: fmt.Sprintf("%d masters and %d workers", k, n-k), Order: n, size: k * (n - k)}
		if k == 1 {
			p.Family, p.Name = MasterWorker, fmt.Sprintf("master-worker, %d workers", n-1)
		}
		p.transitive = 2*k == n
		p.neighbors = func(v int, yield func(int, string)) {
			if v < k {
				for w := k; w < n; w++ {
					yield(w, fmt.Sprintf("worker %d", w-k))
				}
				return
			}
			for w := range k {
				if k == 1 {
					yield(w, "master")
				} else {
					yield(w, fmt.Sprintf("master %d", w))
				}
			}
		}
		all = append(all, p)
	}
	return all
}

// rowsColumns joins all pairs of ranks that share all coordinates but one: FFTs on pencils, radix-r
// butterflies. In mathematics it is a Hamming graph and, in two dimensions, a rook's graph.
func rowsColumns(n int) []*Pattern {
	var all []*Pattern
	for _, dimensions := range factorisations(n, maxDimensions) {
		if len(dimensions) < 2 || dimensions[0] < 4 {
			continue // sizes up to 3 are tori
		}
		l := lattice{dimensions: dimensions, periodic: make([]bool, len(dimensions))}
		degree := 0
		for _, d := range dimensions {
			degree += d - 1
		}
		all = append(all, &Pattern{
			Family: RowsColumns, Name: sizes(dimensions) + " rows and columns all-to-all",
			Dimensions: dimensions, Order: n, size: n * degree / 2, transitive: true, coordinates: l.coordinates,
			neighbors: func(v int, yield func(int, string)) {
				at := l.coordinates(v)
				stride := 1
				for i := len(dimensions) - 1; i >= 0; i-- {
					for step := 1; step < dimensions[i]; step++ {
						to := (at[i] + step) % dimensions[i]
						offset := make([]int, len(dimensions))
						offset[i] = 1
						yield(v+(to-at[i])*stride, fmt.Sprintf("%s%d", direction(offset, 1), step))
					}
					stride *= dimensions[i]
				}
			},
		})
	}
	return all
}

// cg is NPB CG's pattern: 2^k ranks in rows and columns, with as many columns as rows or twice as
// many; sums over a row by recursive halving, and an exchange with the transposed rank (NPB 3,
// CG/cg.f, setup_submatrix_info).
func cg(n int) []*Pattern {
	if n < 4 || n&(n-1) != 0 {
		return nil
	}
	k := bits.Len(uint(n)) - 1
	rows := 1 << (k / 2)
	columns := n / rows
	p := &Pattern{Family: CG, Name: fmt.Sprintf("NAS CG stencil on %d x %d", rows, columns), Dimensions: []int{rows, columns}, Order: n}
	p.coordinates = lattice{dimensions: p.Dimensions}.coordinates
	var partners []string
	for bit := 1; bit < columns; bit *= 2 {
		partners = append(partners, fmt.Sprintf("row partner %d", bit))
	}
	p.neighbors = func(v int, yield func(int, string)) {
		row, column := v/columns, v%columns
		for i, partner := range partners {
			yield(row*columns+column^(1<<i), partner)
		}
		transposed := v%rows*rows + v/rows
		if columns != rows {
			half := v / 2
			transposed = 2*(half%rows*rows+half/rows) + v%2
		}
		if transposed != v {
			yield(transposed, "transposed")
		}
	}
	p.size = p.Graph().Size()
	return []*Pattern{p}
}

// circulants are rings in which ranks communicate at fixed distances: 1 … k, and the powers of two
// of dissemination (Bruck's algorithm, barriers).
func circulants(n int) []*Pattern {
	var all []*Pattern
	add := func(family Family, name string, distances []int) {
		p := &Pattern{Family: family, Name: name, Order: n, transitive: true}
		p.neighbors = func(v int, yield func(int, string)) {
			for _, d := range distances {
				yield((v+d)%n, fmt.Sprintf("+%d", d))
				yield((v-d+n)%n, fmt.Sprintf("-%d", d))
			}
		}
		degree := 0
		for _, d := range distances {
			degree += 2
			if 2*d == n {
				degree--
			}
		}
		p.size = n * degree / 2
		all = append(all, p)
	}
	var distances []int
	for k := 1; 2*k+1 < n && k <= maxReach; k++ {
		distances = append(distances, k)
		if k > 1 {
			add(Neighborhood, fmt.Sprintf("ring of %d with distances up to %d", n, k), distances[:k:k])
		}
	}
	if n >= 6 {
		var powers []int
		seen := map[int]bool{}
		for d := 1; d < n; d *= 2 {
			if shorter := min(d, n-d); !seen[shorter] {
				seen[shorter] = true
				powers = append(powers, shorter)
			}
		}
		add(Dissemination, fmt.Sprintf("dissemination among %d", n), powers)
	}
	return all
}

const maxReach = 32

// butterflies are networks of 2^k rows and k+1 levels, or k levels that close to a ring. A vertex
// communicates with its own row, and with the row that differs in the level's bit, on the next
// level.
func butterflies(n int) []*Pattern {
	var all []*Pattern
	for k := 2; k<<k <= n; k++ {
		rows := 1 << k
		levels := n / rows
		if n%rows != 0 || levels != k && levels != k+1 || levels == k && k < 3 {
			continue
		}
		p := &Pattern{Family: Butterfly, Name: fmt.Sprintf("butterfly network of %d rows and %d levels", rows, levels), Dimensions: []int{levels, rows}, Order: n}
		p.transitive = levels == k
		p.coordinates = lattice{dimensions: p.Dimensions}.coordinates
		p.neighbors = func(v int, yield func(int, string)) {
			level, row := v/rows, v%rows
			if level+1 < levels || levels == k {
				next := (level + 1) % levels
				yield(next*rows+row, "next, straight")
				yield(next*rows+row^1<<level, "next, across")
			}
			if level > 0 || levels == k {
				before := (level - 1 + levels) % levels
				yield(before*rows+row, "previous, straight")
				yield(before*rows+row^1<<before, "previous, across")
			}
		}
		p.size = p.Graph().Size()
		all = append(all, p)
	}
	return all
}
