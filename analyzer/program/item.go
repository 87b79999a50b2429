package program

import (
	"hash/maphash"
	"slices"
)

// An item is a call, a loop, or a part that stands for itself, of one thread's program. It is not changed once it is made.
type item struct {
	// calls are the signatures of a call, a cycle: one for each time that it is made. Nil: no call.
	calls []int32
	kind  uint64 // of a call: function and call site
	part  int    // rule of a part; −1
	body  []*item
	// trips is how often the item is executed each time that it is come to, a cycle: [1] a call, [5] a call five times or
	// a loop of five iterations, [1 0] what only every other iteration of the loop around has.
	trips []uint64
	// shape is what it is but for trip counts and what varies between calls, exact with them; set by seal.
	shape, exact uint64
	cycles       bool // it, or what is in it, does not do the same each time that it is come to
}

var seed = maphash.MakeSeed()

func hashOf(values ...uint64) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range values {
		maphash.WriteComparable(&h, v)
	}
	return h.Sum64()
}

// seal computes what follows from the rest.
func (i *item) seal() *item {
	shapes, exacts := []uint64{i.kind, uint64(i.part)}, []uint64{uint64(len(i.trips))}
	i.cycles = len(i.trips) > 1 || len(i.calls) > 1 && !i.completes(1)
	for _, x := range i.body {
		shapes, exacts = append(shapes, x.shape), append(exacts, x.exact)
		i.cycles = i.cycles || x.cycles
	}
	for _, terminal := range i.calls {
		exacts = append(exacts, uint64(terminal))
	}
	if len(i.calls) > 0 {
		shapes = append(shapes, 1)
	}
	i.shape = hashOf(shapes...)
	i.exact = hashOf(append(append(exacts, i.shape), i.trips...)...)
	return i
}

func newCall(terminal int32, kind, times uint64) *item {
	return (&item{calls: []int32{terminal}, kind: kind, part: -1, trips: []uint64{times}}).seal()
}

func newPart(rule int) *item {
	return (&item{part: rule, trips: []uint64{1}}).seal()
}

// newLoop makes a loop. One of nothing but another is that other one.
func newLoop(body []*item, trips ...uint64) *item {
	if len(body) == 1 && len(trips) == 1 {
		if inner := body[0]; len(inner.trips) == 1 {
			return inner.with(inner.trips[0] * trips[0])
		}
	}
	return (&item{part: -1, body: body, trips: shortest(trips)}).seal()
}

// with is the same with other trips.
func (i *item) with(trips ...uint64) *item {
	return (&item{calls: i.calls, kind: i.kind, part: i.part, body: i.body, trips: shortest(trips)}).seal()
}

func constant(trips []uint64) bool {
	return !slices.ContainsFunc(trips, func(t uint64) bool { return t != trips[0] })
}

// shortest is the shortest cycle that gives the same.
func shortest[T comparable](trips []T) []T {
	for period := 1; period <= len(trips)/2; period++ {
		if len(trips)%period != 0 {
			continue
		}
		same := true
		for i := period; i < len(trips) && same; i++ {
			same = trips[i] == trips[i-period]
		}
		if same {
			return trips[:period]
		}
	}
	return trips
}

// maxCycle bounds the trip counts that are written down for one loop.
const maxCycle = 1 << 16

// executions is how often the body is executed when the item is come to so many times; false: too often to be counted.
func (i *item) executions(times uint64) (uint64, bool) {
	n := uint64(0)
	for k := range times {
		n += i.trips[k%uint64(len(i.trips))]
		if n > maxCycle || k > maxCycle {
			return 0, false
		}
	}
	return n, true
}

// completes tells whether so many times leave the cycle of a call's signatures where it began.
func (i *item) completes(times uint64) bool {
	n, ok := i.executions(times)
	return ok && n%uint64(len(i.calls)) == 0
}

// repeated is what a cycle says of so many times.
func repeated[T any](trips []T, times uint64) []T {
	all := make([]T, times)
	for k := range all {
		all[k] = trips[k%len(trips)]
	}
	return all
}

// union lays items of one shape over one another, which are come to after each other, the k-th one times[k] times.
func union(items []*item, times []uint64) (*item, bool) {
	same, total := true, uint64(0)
	for k, x := range items {
		same = same && x.exact == items[0].exact
		total += times[k]
	}
	if same && (!items[0].cycles || constant(times) && whole(items[0], times[0])) {
		return items[0], true
	}
	if total > maxCycle {
		return nil, false
	}
	u := &item{kind: items[0].kind, part: items[0].part}
	inner := make([]uint64, len(items))
	for k, x := range items {
		u.trips = append(u.trips, repeated(x.trips, times[k])...)
		var ok bool
		if inner[k], ok = x.executions(times[k]); !ok {
			return nil, false
		}
	}
	u.trips = shortest(u.trips)
	if len(items[0].calls) > 0 {
		for k, x := range items {
			u.calls = append(u.calls, repeated(x.calls, inner[k])...)
		}
		if u.calls = shortest(u.calls); len(u.calls) == 0 {
			u.calls = items[0].calls // never made
		}
	}
	for b := range items[0].body {
		column := make([]*item, len(items))
		for k, x := range items {
			column[k] = x.body[b]
		}
		x, ok := union(column, inner)
		if !ok {
			return nil, false
		}
		u.body = append(u.body, x)
	}
	return u.seal(), true
}

// whole tells whether so many times leave all cycles of an item where they began.
func whole(i *item, times uint64) bool {
	if times%uint64(len(i.trips)) != 0 || len(i.calls) > 1 && !i.completes(times) {
		return false
	}
	if !i.cycles || len(i.body) == 0 {
		return true
	}
	inner, ok := i.executions(times)
	return ok && !slices.ContainsFunc(i.body, func(x *item) bool { return !whole(x, inner) })
}
