package program

import "slices"

// maxPeriod bounds the bodies of loops that are looked for where the grammar has none.
const maxPeriod = 256

// fold finds the loops of a level. Its items come once each time that the level is come to: their own trips do not cycle.
func fold(items []*item) []*item {
	for {
		before := len(items)
		items = join(items)
		items = turn(items)
		items = tandems(items, func(i *item) uint64 { return i.exact })
		if len(items) == before {
			items = similar(items)
		}
		if len(items) == before {
			items = tandems(items, func(i *item) uint64 { return i.shape })
		}
		if len(items) == before {
			items = partial(items)
		}
		if len(items) == before {
			return items
		}
	}
}

// join makes one of neighbours that do the same.
func join(items []*item) []*item {
	joined := make([]*item, 0, len(items))
	for _, x := range items {
		if n := len(joined); n > 0 {
			if one, ok := follow(joined[n-1], x); ok {
				joined[n-1] = one
				continue
			}
		}
		joined = append(joined, x)
	}
	return joined
}

// follow makes one item of two that follow each other, where they are a call, or loops with equal bodies.
func follow(a, b *item) (*item, bool) {
	if a.shape != b.shape || len(a.trips) > 1 || len(b.trips) > 1 || a.part >= 0 {
		return nil, false
	}
	total := a.trips[0] + b.trips[0]
	if len(a.calls) > 0 {
		if slices.Equal(a.calls, b.calls) && a.completes(1) {
			return a.with(total), true
		}
		if total > maxCycle {
			return nil, false
		}
		calls := append(repeated(a.calls, a.trips[0]), repeated(b.calls, b.trips[0])...)
		return (&item{calls: shortest(calls), kind: a.kind, part: -1, trips: []uint64{total}}).seal(), true
	}
	for k := range a.body {
		if a.body[k].exact != b.body[k].exact || !whole(a.body[k], a.trips[0]) {
			return nil, false
		}
	}
	return a.with(total), true
}

// turn makes loops begin where the program's do: a b (c a b)^9 c is (a b c)^10. What stands before a loop is compared
// with the end of its body, what stands after it with the beginning.
func turn(items []*item) []*item {
	for i := 0; i < len(items); i++ {
		loop := items[i]
		if len(loop.body) == 0 || len(loop.trips) > 1 || cyclesInLevel(loop.body) {
			continue
		}
		n := len(loop.body)
		before, after := 0, 0
		for before < n && before < i && items[i-1-before].exact == loop.body[n-1-before].exact {
			before++
		}
		for after < n && i+1+after < len(items) && items[i+1+after].exact == loop.body[after].exact {
			after++
		}
		if before+after < n {
			continue
		}
		after = min(after, n-before)
		body := append(append([]*item(nil), loop.body[n-before:]...), loop.body[:n-before]...)
		turned := append(append([]*item(nil), items[:i-before]...), newLoop(fold(body), loop.trips[0]+1))
		items = append(turned, items[i+1+after:]...)
		i = max(-1, i-before-1)
	}
	return items
}

// cyclesInLevel tells whether an item of a body differs from iteration to iteration.
func cyclesInLevel(body []*item) bool {
	for _, x := range body {
		if len(x.trips) > 1 || len(x.calls) > 1 && !x.completes(1) {
			return true
		}
	}
	return false
}

// tandems makes loops of what is repeated next to itself, short bodies first; key says what is the same.
func tandems(items []*item, key func(*item) uint64) []*item {
	for period := 1; period <= min(maxPeriod, len(items)/2); period++ {
		var folded []*item
		for i := 0; i < len(items); {
			copies := 1
			for same(items, i, i+copies*period, period, key) {
				copies++
			}
			if copies > 1 {
				if body, ok := unite(items[i:i+copies*period], period); ok {
					folded = append(folded, newLoop(body, uint64(copies)))
					i += copies * period
					continue
				}
			}
			folded = append(folded, items[i])
			i++
		}
		items = folded
	}
	return items
}

// same compares a number of items at a and at b.
func same(items []*item, a, b, n int, key func(*item) uint64) bool {
	if b+n > len(items) {
		return false
	}
	for k := range n {
		if key(items[a+k]) != key(items[b+k]) {
			return false
		}
	}
	return true
}

// unite is the body of the loop whose iterations follow each other in items.
func unite(items []*item, period int) ([]*item, bool) {
	copies := len(items) / period
	times := make([]uint64, copies)
	for k := range times {
		times[k] = 1
	}
	body := make([]*item, period)
	for b := range body {
		column := make([]*item, copies)
		for k := range column {
			column[k] = items[k*period+b]
		}
		x, ok := union(column, times)
		if !ok {
			return nil, false
		}
		body[b] = x
	}
	return body, true
}
