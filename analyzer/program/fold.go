package program

import "slices"

// fold finds the loops of a level. Its items occur once each time that the level is reached: their
// own trips do not cycle.
func (s *search) fold(items []*item) []*item {
	pairs := max(leastPairs, maxLevelPairs*len(items))
	for pass := 0; ; pass++ {
		if !s.step(len(items)) {
			return items
		}
		if pass >= maxPasses && len(items) > maxPartial {
			s.unfinished++
			return items
		}
		before := len(items)
		items = s.join(items)
		items = s.turn(items)
		items = s.tandems(items, func(i *item) uint64 { return i.exact })
		if len(items) == before {
			items = s.similar(items)
		}
		if len(items) == before {
			items = s.tandems(items, func(i *item) uint64 { return i.shape })
		}
		if len(items) == before {
			items = s.partial(items, &pairs)
		}
		if len(items) == before {
			if pairs < 0 {
				s.unfinished++
			}
			return items
		}
	}
}

// join joins adjacent items that do the same.
func (s *search) join(items []*item) []*item {
	joined := make([]*item, 0, len(items))
	for i := 0; i < len(items); {
		x, n := items[i], 1
		if len(x.calls) > 0 {
			x, n = s.joinCalls(items[i:])
		} else if last := len(joined) - 1; last >= 0 && x.continues(joined[last]) {
			joined[last] = joined[last].with(joined[last].trips[0] + x.trips[0])
			i++
			continue
		}
		joined = append(joined, x)
		i += n
	}
	return joined
}

// joinCalls joins the call at the beginning of items with the following ones from the same call
// site. It returns how many they were.
func (s *search) joinCalls(items []*item) (*item, int) {
	first := items[0]
	if len(first.trips) > 1 {
		return first, 1
	}
	n, total, cycle := 1, first.trips[0], first.calls
	var written *writtenCycle // all signatures so far; nil while the cycle describes them
	for ; n < len(items); n++ {
		x := items[n]
		if x.shape != first.shape || len(x.trips) > 1 {
			break
		}
		sum := total + x.trips[0]
		again := total <= maxCycle && total%uint64(len(cycle)) == 0 && slices.Equal(cycle, x.calls)
		if !again && sum > maxCycle {
			break
		}
		switch {
		case again && sum > maxCycle:
			written = nil
		case !again && written == nil:
			written = &writtenCycle{}
			s.step(int(sum))
			written.add(cycle, total)
			fallthrough
		case written != nil:
			written.add(x.calls, x.trips[0])
			cycle = written.shortest()
		}
		total = sum
	}
	if n == 1 {
		return first, 1
	}
	s.step(int(min(total, maxCycle)))
	return (&item{calls: slices.Clone(cycle), kind: first.kind, part: -1, trips: []uint64{total}}).seal(), n
}

// A writtenCycle is a growing sequence with its shortest cycle (the failure function of Knuth,
// Morris and Pratt).
type writtenCycle struct {
	values []int32
	border []int // of each prefix: the length of its longest border
}

func (w *writtenCycle) add(cycle []int32, times uint64) {
	for k := range times {
		x := cycle[k%uint64(len(cycle))]
		b := 0
		if n := len(w.values); n > 0 {
			for b = w.border[n-1]; b > 0 && w.values[b] != x; {
				b = w.border[b-1]
			}
			if w.values[b] == x {
				b++
			}
		}
		w.values, w.border = append(w.values, x), append(w.border, b)
	}
}

// shortest returns the shortest cycle that generates the sequence.
func (w *writtenCycle) shortest() []int32 {
	n := len(w.values)
	if period := n - w.border[n-1]; n%period == 0 {
		return w.values[:period]
	}
	return w.values
}

// continues reports whether a loop continues the one before it: their bodies are equal.
func (i *item) continues(before *item) bool {
	if before.shape != i.shape || before.inner.exact != i.inner.exact || len(before.trips) > 1 || len(i.trips) > 1 || before.part >= 0 {
		return false
	}
	return !before.inner.cycles || !slices.ContainsFunc(before.body, func(x *item) bool { return !whole(x, before.trips[0]) })
}

// turn makes loops begin where the program's do: a b (c a b)^9 c is (a b c)^10. The items before a
// loop are compared with the end of its body, the items after it with the beginning.
func (s *search) turn(items []*item) []*item {
	turned := make([]*item, 0, len(items))
	for len(items) > 0 {
		loop := items[0]
		items = items[1:]
		for {
			one, before, after := s.turnOne(turned, loop, items)
			if one == nil {
				break
			}
			turned, loop, items = turned[:len(turned)-before], one, items[after:]
		}
		turned = append(turned, loop)
	}
	return turned
}

// turnOne returns a loop with the items before and after it in one more iteration, or nil if they
// are not one. It also returns the numbers of these items.
func (s *search) turnOne(left []*item, loop *item, right []*item) (turned *item, before, after int) {
	n := len(loop.body)
	if n == 0 || len(loop.trips) > 1 {
		return nil, 0, 0
	}
	for before < n && before < len(left) && left[len(left)-1-before].exact == loop.body[n-1-before].exact {
		before++
	}
	for after < n && after < len(right) && right[after].exact == loop.body[after].exact {
		after++
	}
	if !s.step(before+after) || before+after < n || cyclesInLevel(loop.body) {
		return nil, 0, 0
	}
	after = min(after, n-before)
	body := append(append([]*item(nil), loop.body[n-before:]...), loop.body[:n-before]...)
	return newLoop(s.fold(body), loop.trips[0]+1), before, after
}

// cyclesInLevel reports whether an item of a body differs from iteration to iteration.
func cyclesInLevel(body []*item) bool {
	for _, x := range body {
		if len(x.trips) > 1 || len(x.calls) > 1 && !x.completes(1) {
			return true
		}
	}
	return false
}

// tandems makes loops of adjacent repetitions, short bodies first; items with equal keys are the
// same.
func (s *search) tandems(items []*item, key func(*item) uint64) []*item {
	keys := make([]uint64, len(items))
	for i, x := range items {
		keys[i] = key(x)
	}
	for period := 1; period <= min(maxPeriod, len(items)/2); period++ {
		if s.repeats(keys, period) {
			items, keys = s.collapse(items, keys, period, key)
		}
	}
	return items
}

// repeats reports whether period items are followed by the same ones again. One of those items is
// at a multiple of the period, so only these positions need to be checked (Main and Lorentz, "An
// O(n log n) algorithm for finding all repetitions in a string", J. Algorithms 5, 1984).
func (s *search) repeats(keys []uint64, period int) bool {
	steps := 0
	defer func() { s.step(steps) }()
	for i := 0; i+period < len(keys); i += period {
		same := 0
		for same < period && i+period+same < len(keys) && keys[i+same] == keys[i+period+same] {
			same++
		}
		steps += same + 1
		if same == 0 {
			continue
		}
		for back := 1; same < period && back <= i && keys[i-back] == keys[i+period-back]; back++ {
			same++
			steps++
		}
		if same >= period {
			return true
		}
	}
	return false
}

// collapse makes loops of all repetitions with a period, from the first one on.
func (s *search) collapse(items []*item, keys []uint64, period int, key func(*item) uint64) ([]*item, []uint64) {
	// number of items from here on that equal those one period later
	equal := make([]int, len(items)+1)
	for i := len(items) - period - 1; i >= 0; i-- {
		if keys[i] == keys[i+period] {
			equal[i] = equal[i+1] + 1
		}
	}
	if !s.step(2 * len(items)) {
		return items, keys
	}
	folded, foldedKeys := make([]*item, 0, len(items)), make([]uint64, 0, len(items))
	failed := 0 // up to here all repetitions together are not a loop
	for i := 0; i < len(items); {
		if copies := 1 + equal[i]/period; copies > 1 {
			body, ok := []*item(nil), false
			if i >= failed {
				body, ok = s.unite(items[i:i+copies*period], period)
			}
			if !ok {
				failed = i + copies*period
				body, copies = s.uniteSome(items[i:], period, copies)
			}
			if body != nil {
				loop := newLoop(body, uint64(copies))
				folded, foldedKeys = append(folded, loop), append(foldedKeys, key(loop))
				i += copies * period
				continue
			}
		}
		folded, foldedKeys = append(folded, items[i]), append(foldedKeys, keys[i])
		i++
	}
	return folded, foldedKeys
}

// uniteSome returns the body of a loop of the first n repetitions, where all are too many; nil: not
// even two can be joined.
func (s *search) uniteSome(items []*item, period, copies int) (body []*item, n int) {
	for try := 2; try < copies; try *= 2 {
		longer, ok := s.unite(items[:try*period], period)
		if !ok {
			break
		}
		body, n = longer, try
	}
	return body, n
}

// unite is the body of the loop whose iterations follow each other in items.
func (s *search) unite(items []*item, period int) ([]*item, bool) {
	copies := len(items) / period
	times := make([]uint64, copies)
	for k := range times {
		times[k] = 1
	}
	body := make([]*item, period)
	column := make([]*item, copies)
	for b := range body {
		for k := range column {
			column[k] = items[k*period+b]
		}
		x, ok := s.union(column, times)
		if !ok {
			return nil, false
		}
		body[b] = x
	}
	return body, true
}
