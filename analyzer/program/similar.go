package program

import "slices"

// similar joins adjacent loops that are equal except for trip counts and arguments, and makes loops
// begin where the program's do: a' b' (c a b)^9 c' is (a b c)^10, whatever the arguments, like turn
// for equal ones.
func (s *search) similar(items []*item) []*item {
	done, left := make([]*item, 0, len(items)), slices.Clone(items)
	slices.Reverse(left) // the next one is the last
	for len(left) > 0 && s.step(1) {
		x := left[len(left)-1]
		left = left[:len(left)-1]
		if !isLoop(x) {
			done = append(done, x)
			continue
		}
		x, left = s.withNeighbors(x, left)
		loop, before, after := s.turnSimilar(done, x, left)
		if loop == nil {
			done = append(done, x)
			continue
		}
		done, left = done[:len(done)-before], append(left[:len(left)-after], loop)
		if n := len(done); n > 0 { // the loop before it may now be adjacent
			done, left = done[:n-1], append(left, done[n-1])
		}
	}
	return done
}

// isLoop reports whether an item is a loop with countable iterations.
func isLoop(x *item) bool { return len(x.body) > 0 && len(x.trips) == 1 && x.trips[0] <= maxCycle }

// withNeighbors joins a loop and the following ones of its shape (the next one is the last of
// left): all of them, or the largest number, by repeated doubling, that can be joined. It returns
// the remaining items.
func (s *search) withNeighbors(x *item, left []*item) (*item, []*item) {
	run, loop, n := []*item{x}, x, 1
	for try := 2; ; try *= 2 {
		for next := len(left) - len(run); len(run) < try && next >= 0; next-- {
			if left[next].shape != x.shape || !isLoop(left[next]) {
				break
			}
			run = append(run, left[next])
		}
		if len(run) == n {
			break
		}
		one, ok := s.oneLoop(run)
		if !ok {
			break
		}
		loop, n = one, len(run)
		if n < try {
			break
		}
	}
	return loop, left[:len(left)-(n-1)]
}

// oneLoop joins consecutive loops of one shape.
func (s *search) oneLoop(loops []*item) (*item, bool) {
	times, total := make([]uint64, len(loops)), uint64(0)
	for k, x := range loops {
		times[k] = x.trips[0]
		total += x.trips[0]
	}
	body, column := make([]*item, len(loops[0].body)), make([]*item, len(loops))
	for b := range body {
		for k, x := range loops {
			column[k] = x.body[b]
		}
		x, ok := s.union(column, times)
		if !ok || !s.step(len(loops)) {
			return nil, false
		}
		body[b] = x
	}
	return newLoop(body, total), true
}

// turnSimilar adds similar items before and after a loop as one more iteration; the next item is
// the last of right. before and after are their numbers.
func (s *search) turnSimilar(left []*item, of *item, right []*item) (loop *item, before, after int) {
	n, trips := len(of.body), of.trips[0]
	for before < n && before < len(left) && left[len(left)-1-before].shape == of.body[n-1-before].shape {
		before++
	}
	for after < n-before && after < len(right) && right[len(right)-1-after].shape == of.body[after].shape {
		after++
	}
	if !s.step(before+after) || n == 0 || before+after < n {
		return nil, 0, 0
	}
	body := make([]*item, 0, n)
	for k := range before {
		x, ok := s.union([]*item{left[len(left)-before+k], of.body[n-before+k]}, []uint64{1, trips})
		if !ok {
			return nil, 0, 0
		}
		body = append(body, x)
	}
	for k := range after {
		x, ok := s.union([]*item{of.body[k], right[len(right)-1-k]}, []uint64{trips, 1})
		if !ok {
			return nil, 0, 0
		}
		body = append(body, x)
	}
	return newLoop(body, trips+1), before, after
}
