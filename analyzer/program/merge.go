package program

import "slices"

// A node is a call, a loop or a part of the program of many classes of threads, laid over one another.
type node struct {
	classes []int // that have it, sorted
	calls   []variant
	part    int // −1
	body    []*node
	trips   []tripsOf
	kinds   map[uint64]bool // functions and call sites of all calls in it
}

// A variant is how some classes make a call.
type variant struct {
	cycle   []int32 // signatures: see item.calls
	classes []int
}

// tripsOf are the trip counts of some classes.
type tripsOf struct {
	trips   []uint64
	classes []int
}

// nodesOf are the items of one class.
func nodesOf(items []*item, class int) []*node {
	list := make([]*node, len(items))
	for i, x := range items {
		n := &node{classes: []int{class}, part: x.part, trips: []tripsOf{{x.trips, []int{class}}}, kinds: map[uint64]bool{}}
		if len(x.calls) > 0 {
			n.calls = []variant{{x.calls, []int{class}}}
			n.kinds[x.kind] = true
		}
		n.body = nodesOf(x.body, class)
		for _, inner := range n.body {
			for k := range inner.kinds {
				n.kinds[k] = true
			}
		}
		list[i] = n
	}
	return list
}

// sameBody is what two loops must have in common (Jaccard) to be one.
const sameBody = 0.5

// score says how well two nodes go together; 0: not at all.
func score(a, b *node) int {
	switch {
	case a.part >= 0 || b.part >= 0:
		if a.part == b.part {
			return 4
		}
		return 0
	case len(a.calls) > 0 && len(b.calls) > 0:
		for _, x := range a.calls {
			if slices.Equal(x.cycle, b.calls[0].cycle) {
				return 4
			}
		}
		for kind := range b.kinds {
			if a.kinds[kind] {
				return 3
			}
		}
		return 0
	case len(a.calls) > 0 || len(b.calls) > 0:
		return 0
	}
	both := 0
	for k := range b.kinds {
		if a.kinds[k] {
			both++
		}
	}
	if share := float64(both) / float64(len(a.kinds)+len(b.kinds)-both); share >= sameBody {
		return 4 * both // a loop is worth its calls
	}
	return 0
}

// over lays the nodes b over a.
func over(a, b []*node) []*node {
	merged := make([]*node, 0, max(len(a), len(b)))
	for _, p := range alignment(a, b, score) {
		switch {
		case p[1] < 0:
			merged = append(merged, a[p[0]])
		case p[0] < 0:
			merged = append(merged, b[p[1]])
		default:
			merged = append(merged, joinNodes(a[p[0]], b[p[1]]))
		}
	}
	return merged
}

// joinNodes makes one node of two; a is changed.
func joinNodes(a, b *node) *node {
	a.classes = merge(a.classes, b.classes)
	for k := range b.kinds {
		a.kinds[k] = true
	}
	for _, v := range b.calls {
		i := slices.IndexFunc(a.calls, func(x variant) bool { return slices.Equal(x.cycle, v.cycle) })
		if i < 0 {
			a.calls = append(a.calls, v)
		} else {
			a.calls[i].classes = merge(a.calls[i].classes, v.classes)
		}
	}
	for _, t := range b.trips {
		i := slices.IndexFunc(a.trips, func(x tripsOf) bool { return slices.Equal(x.trips, t.trips) })
		if i < 0 {
			a.trips = append(a.trips, t)
		} else {
			a.trips[i].classes = merge(a.trips[i].classes, t.classes)
		}
	}
	a.body = over(a.body, b.body)
	return a
}

// merge unites sorted lists; a may be changed. Most often b is the class that comes next: thousands are added one by one.
func merge(a, b []int) []int {
	if len(a) > 0 && len(b) > 0 && a[len(a)-1] < b[0] {
		return append(a, b...)
	}
	all := append(append(make([]int, 0, len(a)+len(b)), a...), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
