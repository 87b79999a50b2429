package program

import "slices"

// A node is a call, a loop or a part in the aligned programs of many classes of threads.
type node struct {
	classes []int // classes with the node, sorted
	calls   []variant
	part    int // −1
	omitted int // number of items of its level that are left out from here on
	body    []*node
	trips   []tripsOf
	kind    uint64          // of a call: function and call site
	kinds   map[uint64]bool // of all calls in it
	byCycle map[uint64]int  // by hash: indices into calls
	byTrips map[uint64]int  // by hash: indices into trips
}

// A variant is how some classes make a call.
type variant struct {
	cycle   []int32 // signatures, like item.calls
	hash    uint64
	classes []int
}

// tripsOf are the trip counts of some classes.
type tripsOf struct {
	trips   []uint64
	hash    uint64
	classes []int
}

// nodesOf returns the items of one class as nodes, as far as there is room for them.
func (s *search) nodesOf(items []*item, class int) []*node {
	list := make([]*node, 0, min(len(items), s.room+1))
	for i, x := range items {
		if !s.step(1) {
			return list
		}
		if s.room <= 0 {
			return append(list, &node{classes: []int{class}, part: -1, omitted: len(items) - i})
		}
		s.room--
		n := &node{classes: []int{class}, part: x.part, trips: []tripsOf{{x.trips, hashOf(x.trips...), []int{class}}}}
		if len(x.calls) > 0 {
			n.calls, n.kind = []variant{{x.calls, x.called, []int{class}}}, x.kind
		}
		if len(x.body) > 0 {
			n.body, n.kinds = s.nodesOf(x.body, class), map[uint64]bool{}
		}
		for _, inner := range n.body {
			if len(inner.calls) > 0 {
				n.kinds[inner.kind] = true
			}
			for k := range inner.kinds {
				n.kinds[k] = true
			}
		}
		list = append(list, n)
	}
	return list
}

// sameBody is the minimum similarity (Jaccard) of two loops that are joined.
const sameBody = 0.5

// variant returns the index of a variant with the calls of another one, −1 if there is none.
func (n *node) variant(of *variant) int {
	if len(n.calls) == 1 {
		if n.calls[0].hash != of.hash {
			return -1
		}
		return 0
	}
	if len(n.byCycle) < len(n.calls) {
		n.byCycle = map[uint64]int{}
		for i, v := range n.calls {
			n.byCycle[v.hash] = i
		}
	}
	if i, known := n.byCycle[of.hash]; known {
		return i
	}
	return -1
}

// tripsLike returns the index of equal trip counts, −1 if there are none.
func (n *node) tripsLike(of *tripsOf) int {
	if len(n.trips) == 1 {
		if n.trips[0].hash != of.hash {
			return -1
		}
		return 0
	}
	if len(n.byTrips) < len(n.trips) {
		n.byTrips = map[uint64]int{}
		for i, t := range n.trips {
			n.byTrips[t.hash] = i
		}
	}
	if i, known := n.byTrips[of.hash]; known {
		return i
	}
	return -1
}

// score returns how well two nodes match; 0: not at all.
func (s *search) score(a, b *node) int {
	switch {
	case a.omitted > 0 || b.omitted > 0:
		return 0
	case a.part >= 0 || b.part >= 0:
		if a.part == b.part {
			return 4
		}
		return 0
	case len(a.calls) > 0 && len(b.calls) > 0:
		switch {
		case a.kind != b.kind:
			return 0
		case a.variant(&b.calls[0]) >= 0:
			return 4
		}
		return 3
	case len(a.calls) > 0:
		return repeats(a, b)
	case len(b.calls) > 0:
		return repeats(b, a)
	}
	both := 0
	s.overlay -= len(b.kinds)
	s.step(len(b.kinds))
	for k := range b.kinds {
		if a.kinds[k] {
			both++
		}
	}
	share := float64(both) / float64(len(a.kinds)+len(b.kinds)-both)
	// ranks that lack neighbors make fewer of the calls, but as often
	part := both > 0 && 2*both >= min(len(a.kinds), len(b.kinds)) && a.tripsLike(&b.trips[0]) >= 0
	if share >= sameBody || part {
		return 4 * both // a loop counts as its calls
	}
	return 0
}

// repeats returns how well a call that is made several times in a row matches a loop: it may be all
// that a rank has of it.
func repeats(call, loop *node) int {
	if loop.kinds[call.kind] && len(call.trips) == 1 && len(call.trips[0].trips) == 1 && call.trips[0].trips[0] > 1 &&
		loop.tripsLike(&call.trips[0]) >= 0 {
		return 2
	}
	return 0
}

// asLoop returns a call that is made several times in a row as a loop.
func (n *node) asLoop() *node {
	if len(n.calls) == 0 {
		return n
	}
	loop := &node{classes: slices.Clone(n.classes), part: -1, trips: n.trips, kinds: map[uint64]bool{n.kind: true}}
	once := *n
	once.trips, once.byTrips = []tripsOf{{[]uint64{1}, hashOf(1), slices.Clone(n.classes)}}, nil
	loop.body = []*node{&once}
	return loop
}

// over aligns the nodes b with a.
func (s *search) over(a, b []*node) []*node {
	if s.overlay < 0 {
		s.apart++
		return append(a, b...)
	}
	merged := make([]*node, 0, max(len(a), len(b)))
	laid, compared := alignment(s, &s.overlay, a, b, s.score)
	if !compared {
		s.apart++
	}
	for _, p := range laid {
		switch {
		case p[1] < 0:
			merged = append(merged, a[p[0]])
		case p[0] < 0:
			merged = append(merged, b[p[1]])
		default:
			merged = append(merged, s.joinNodes(a[p[0]], b[p[1]]))
		}
	}
	return merged
}

// joinNodes joins two nodes; it changes a.
func (s *search) joinNodes(a, b *node) *node {
	s.room++
	if (len(a.calls) > 0) != (len(b.calls) > 0) {
		a, b = a.asLoop(), b.asLoop()
	}
	a.classes = merge(a.classes, b.classes)
	for k := range b.kinds {
		a.kinds[k] = true
	}
	for _, v := range b.calls {
		i := a.variant(&v)
		if i < 0 {
			a.calls = append(a.calls, v)
			if a.byCycle != nil {
				a.byCycle[v.hash] = len(a.calls) - 1
			}
		} else {
			a.calls[i].classes = merge(a.calls[i].classes, v.classes)
		}
	}
	for _, t := range b.trips {
		i := a.tripsLike(&t)
		if i < 0 {
			a.trips = append(a.trips, t)
			if a.byTrips != nil {
				a.byTrips[t.hash] = len(a.trips) - 1
			}
		} else {
			a.trips[i].classes = merge(a.trips[i].classes, t.classes)
		}
	}
	a.body = s.over(a.body, b.body)
	return a
}

// merge returns the union of sorted lists; it may change a. Mostly b is the next class: thousands
// are added one by one.
func merge(a, b []int) []int {
	if len(a) > 0 && len(b) > 0 && a[len(a)-1] < b[0] {
		return append(a, b...)
	}
	all := append(append(make([]int, 0, len(a)+len(b)), a...), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
