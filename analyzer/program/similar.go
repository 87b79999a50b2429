package program

import "slices"

// similar makes one loop of neighbors that are equal but for trip counts and arguments, and begins loops where the
// program's begin: a' b' (c a b)^9 c' is (a b c)^10, whatever the arguments, as turn has it for equal ones.
func similar(items []*item) []*item {
	for i := 0; i < len(items); i++ {
		if !isLoop(items[i]) {
			continue
		}
		end := i + 1
		for end < len(items) && items[end].shape == items[i].shape && isLoop(items[end]) {
			end++
		}
		if loop, ok := oneLoop(items[i:end]); ok && end > i+1 {
			items = slices.Replace(slices.Clone(items), i, end, loop)
		}
		if loop, from, to := turnSimilar(items, i); loop != nil {
			items = slices.Replace(slices.Clone(items), from, to, loop)
			i = max(-1, from-2) // the loop before it may now be its neighbor
		}
	}
	return items
}

// isLoop reports whether an item is a loop whose iterations can be counted.
func isLoop(x *item) bool { return len(x.body) > 0 && len(x.trips) == 1 && x.trips[0] <= maxCycle }

// oneLoop makes one of loops of one shape that follow each other.
func oneLoop(loops []*item) (*item, bool) {
	times, total := make([]uint64, len(loops)), uint64(0)
	for k, x := range loops {
		times[k] = x.trips[0]
		total += x.trips[0]
	}
	body := make([]*item, len(loops[0].body))
	for b := range body {
		column := make([]*item, len(loops))
		for k, x := range loops {
			column[k] = x.body[b]
		}
		x, ok := union(column, times)
		if !ok {
			return nil, false
		}
		body[b] = x
	}
	return newLoop(body, total), true
}

// turnSimilar makes a loop of the one at i with what is similar before and after it: of the items from … to.
func turnSimilar(items []*item, i int) (loop *item, from, to int) {
	of := items[i]
	n, trips := len(of.body), of.trips[0]
	before, after := 0, 0
	for before < n && before < i && items[i-1-before].shape == of.body[n-1-before].shape {
		before++
	}
	for after < n-before && i+1+after < len(items) && items[i+1+after].shape == of.body[after].shape {
		after++
	}
	if before+after < n {
		return nil, 0, 0
	}
	body := make([]*item, 0, n)
	for k := range before {
		x, ok := union([]*item{items[i-before+k], of.body[n-before+k]}, []uint64{1, trips})
		if !ok {
			return nil, 0, 0
		}
		body = append(body, x)
	}
	for k := range after {
		x, ok := union([]*item{of.body[k], items[i+1+k]}, []uint64{trips, 1})
		if !ok {
			return nil, 0, 0
		}
		body = append(body, x)
	}
	return newLoop(body, trips+1), i - before, i + 1 + after
}
