package program

import "slices"

// partial makes a loop of iterations that begin and end with the same calls and differ in between,
// with the first head for which that succeeds (ScalaTrace II §3.2.1). pairs is the remaining number
// of comparisons on this level; below 0: they were not enough.
func (s *search) partial(items []*item, pairs *int) []*item {
	if len(items) > maxPartial {
		return items
	}
	at := map[uint64][]int{} // positions of items of a shape
	for i, x := range items {
		at[x.shape] = append(at[x.shape], i)
	}
	for first, head := range items {
		starts := at[head.shape]
		if starts[0] != first {
			continue // tried already
		}
		if !s.step(len(starts)) || *pairs < 0 {
			return items
		}
		if loop, end := s.iterations(items, starts, pairs); loop != nil {
			folded := append(append([]*item(nil), items[:first]...), loop)
			return append(folded, items[end:]...)
		}
	}
	return items
}

// iterations makes a loop of the items that begin at starts. The last iteration ends where it has
// the end of the others.
func (s *search) iterations(items []*item, starts []int, pairs *int) (*item, int) {
	if len(starts) < 2 || starts[1]-starts[0] < 2 {
		return nil, 0
	}
	tail := items[starts[1]-1].shape
	var list [][]*item
	longest, sum := 0, 0
	for k := range len(starts) - 1 {
		one := items[starts[k]:starts[k+1]]
		if one[len(one)-1].shape != tail {
			return nil, 0
		}
		longest, sum = max(longest, len(one)), sum+len(one)
		list = append(list, one)
	}
	end := starts[len(starts)-1]
	for i := end + 1; i < min(len(items), end+2*longest); i++ {
		if items[i].shape == tail {
			list, sum, end = append(list, items[end:i+1]), sum+i+1-end, i+1
			break
		}
	}
	if len(list) < 2 {
		return nil, 0
	}
	growth := maxGrowth
	if len(list) == 2 {
		growth = pairGrowth
	}
	body, ok := s.align(list, pairs, int(growth*float64(sum)/float64(len(list))))
	if !ok {
		return nil, 0
	}
	return newLoop(body, uint64(len(list))), end
}

// align aligns iterations. The trips of each item of the result are how often it occurs in each
// iteration.
func (s *search) align(list [][]*item, pairs *int, longest int) ([]*item, bool) {
	// the common sequence of shapes grows iteration by iteration
	var common []*item
	seen := map[uint64]bool{}
	for _, one := range list {
		var key []uint64
		for _, x := range one {
			key = append(key, x.shape)
		}
		if h := hashOf(key...); !seen[h] {
			seen[h] = true
			common = s.supersequence(common, one, pairs)
		}
		if len(seen) > maxVariants || len(common) > longest {
			return nil, false
		}
	}
	// then the trips of each iteration are set
	columns := make([][]*item, len(common))
	trips := make([][]uint64, len(common))
	for _, one := range list {
		laid, _ := alignment(s, pairs, common, one, sameShape)
		for _, p := range laid {
			if p[0] < 0 {
				return nil, false // too long to be compared
			}
			if p[1] < 0 {
				trips[p[0]] = append(trips[p[0]], 0)
				continue
			}
			trips[p[0]] = append(trips[p[0]], 1)
			columns[p[0]] = append(columns[p[0]], one[p[1]])
		}
	}
	var body []*item
	for i, column := range columns {
		if len(column) == 0 {
			continue // everything matched something else
		}
		times := make([]uint64, len(column))
		for k := range times {
			times[k] = 1
		}
		x, ok := s.union(column, times)
		if !ok {
			return nil, false
		}
		if slices.Contains(trips[i], 0) {
			if len(x.body) > 0 && len(list) == 2 {
				return nil, false // two iterations cannot be that different
			}
			x = sometimes(x, trips[i])
		}
		body = append(body, x)
	}
	return body, true
}

// sometimes returns an item that occurs only in some iterations.
func sometimes(x *item, present []uint64) *item {
	if x.cycles && len(x.trips) == 1 && len(x.body) > 0 || x.part >= 0 {
		return (&item{part: -1, body: []*item{x}, trips: shortest(present)}).seal()
	}
	trips, k := make([]uint64, len(present)), 0
	for i, there := range present {
		if there > 0 {
			trips[i] = x.trips[k%len(x.trips)]
			k++
		}
	}
	return x.with(trips...)
}

// supersequence returns all items of both sequences in order, equal ones once.
func (s *search) supersequence(a, b []*item, pairs *int) []*item {
	var all []*item
	laid, _ := alignment(s, pairs, a, b, sameShape)
	for _, p := range laid {
		if p[0] >= 0 {
			all = append(all, a[p[0]])
		} else {
			all = append(all, b[p[1]])
		}
	}
	return all
}

func sameShape(a, b *item) int {
	if a.shape == b.shape {
		return 1
	}
	return 0
}

// alignment aligns b with a so that the sum of scores is maximal. It returns pairs of indices in
// order; −1 is a gap. If what remains after equal beginnings and ends is too long, or exceeds the
// remaining comparisons (left), compared is false.
func alignment[T any](s *search, left *int, a, b []T, score func(T, T) int) (pairs [][2]int, compared bool) {
	compared = true
	from, to := 0, 0
	for from < min(len(a), len(b)) && score(a[from], b[from]) > 0 && (from+1 >= min(len(a), len(b)) || score(a[from+1], b[from+1]) > 0) {
		pairs = append(pairs, [2]int{from, from})
		from++
	}
	for to < min(len(a), len(b))-from && score(a[len(a)-1-to], b[len(b)-1-to]) > 0 && (to+1 >= min(len(a), len(b))-from || score(a[len(a)-2-to], b[len(b)-2-to]) > 0) {
		to++
	}
	n, m := len(a)-from-to, len(b)-from-to
	switch {
	case n == 0 || m == 0:
		pairs = append(pairs, apart(from, n, m)...)
	case n*m > maxAlignment || n*m > *left || !s.step(n*m+len(a)+len(b)):
		if compared = false; n*m > *left {
			*left = -1
		}
		pairs = append(pairs, apart(from, n, m)...)
	default:
		*left -= n * m
		pairs = append(pairs, middle(a[from:from+n], b[from:from+m], from, score)...)
	}
	for k := to; k > 0; k-- {
		pairs = append(pairs, [2]int{len(a) - k, len(b) - k})
	}
	return pairs, compared
}

// apart aligns n and m items with gaps only.
func apart(offset, n, m int) [][2]int {
	pairs := make([][2]int, 0, n+m)
	for i := range n {
		pairs = append(pairs, [2]int{offset + i, -1})
	}
	for j := range m {
		pairs = append(pairs, [2]int{-1, offset + j})
	}
	return pairs
}

// middle is the alignment by dynamic programming; indices count from offset.
func middle[T any](a, b []T, offset int, score func(T, T) int) [][2]int {
	n, m := len(a), len(b)
	best := make([]int32, (n+1)*(m+1)) // maximum score of the suffixes from i and j on
	at := func(i, j int) int { return i*(m+1) + j }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			x := max(best[at(i+1, j)], best[at(i, j+1)])
			if s := score(a[i], b[j]); s > 0 {
				x = max(x, best[at(i+1, j+1)]+int32(s))
			}
			best[at(i, j)] = x
		}
	}
	var pairs [][2]int
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && score(a[i], b[j]) > 0 && best[at(i, j)] == best[at(i+1, j+1)]+int32(score(a[i], b[j])):
			pairs = append(pairs, [2]int{offset + i, offset + j})
			i, j = i+1, j+1
		case j == m || i < n && best[at(i, j)] == best[at(i+1, j)]:
			pairs = append(pairs, [2]int{offset + i, -1})
			i++
		default:
			pairs = append(pairs, [2]int{-1, offset + j})
			j++
		}
	}
	return pairs
}
