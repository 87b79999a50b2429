package topology

import (
	"fmt"
	"math/bits"
)

// trees returns the complete k-ary ones, numbered level by level, and the binomial one.
func trees(n int) []*Pattern {
	var all []*Pattern
	for k := 2; k < n-1 && k <= maxChildren; k++ {
		name := fmt.Sprintf("%d-ary tree of %d", k, n)
		if k == 2 {
			name = fmt.Sprintf("binary tree of %d", n)
		}
		all = append(all, rooted(Tree, name, n, func(v int) (int, int) { return (v - 1) / k, (v - 1) % k }))
	}
	return append(all, rooted(BinomialTree, fmt.Sprintf("binomial tree of %d", n), n, func(v int) (int, int) {
		// the parent has the lowest bit cleared, as in MPI libraries' broadcasts
		return v & (v - 1), bits.TrailingZeros(uint(v))
	}))
}

const maxChildren = 64

// rooted makes a pattern of a function that returns the parent of a vertex and the index of the
// vertex among its children; parents have lower numbers.
func rooted(family Family, name string, n int, parent func(v int) (int, int)) *Pattern {
	p := &Pattern{Family: family, Name: name, Order: n, size: n - 1}
	type child struct{ vertex, place int }
	var children [][]child
	lists := func() [][]child {
		if children == nil {
			children = make([][]child, n)
			for v := 1; v < n; v++ {
				up, place := parent(v)
				children[up] = append(children[up], child{v, place})
			}
		}
		return children
	}
	p.neighbors = func(v int, yield func(int, string)) {
		if v > 0 {
			up, _ := parent(v)
			yield(up, "parent")
		}
		for _, c := range lists()[v] {
			yield(c.vertex, fmt.Sprintf("child %d", c.place))
		}
	}
	p.coordinates = func(v int) []int {
		level := 0
		for u := v; u > 0; level++ {
			u, _ = parent(u)
		}
		return []int{level, v}
	}
	return p
}
