package program

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// An item is a call, a loop, or a reference to a part, in one thread's program. It is immutable.
type item struct {
	// calls are the signatures of a call, as a cycle: one for each time that it is made. Nil: the
	// item is not a call.
	calls []int32
	kind  uint64 // of a call: function and call site
	part  int    // rule of a part; −1
	body  []*item
	// trips is the number of executions each time that the item is reached, as a cycle: [1] a call,
	// [5] a call five times or a loop of five iterations, [1 0] what occurs only in every other
	// iteration of the enclosing loop.
	trips []uint64
	// shape identifies the item except for trip counts and what varies between calls; exact
	// includes them. seal sets both.
	shape, exact uint64
	cycles       bool   // the item, or its content, does not do the same each time that it is reached
	inner        level  // the body
	called       uint64 // a hash of the calls
}

var seed = rand.Uint64()

// hashOf returns a hash of numbers, with a seed that differs from process to process.
func hashOf(values ...uint64) uint64 {
	h := seed
	for _, v := range values {
		h = mixed(h, v)
	}
	return h
}

// mixed adds a number to the hash h (the multiplication of wyhash, by its 128-bit product).
func mixed(h, v uint64) uint64 {
	high, low := bits.Mul64(h^0xa0761d6478bd642f, v^0xe7037ed1a0b428db^seed)
	return high ^ low + h
}

// A level is a list of items that was folded, with their common hashes.
type level struct {
	items        []*item
	shape, exact uint64
	cycles       bool // one of them cycles
	size         int  // number of items at all levels, saturating
}

func newLevel(items []*item) level {
	l := level{items: items}
	for _, x := range items {
		l.shape, l.exact = mixed(l.shape, x.shape), mixed(l.exact, x.exact)
		l.cycles = l.cycles || x.cycles
		l.size = min(l.size+1+x.inner.size, math.MaxInt/2)
	}
	return l
}

// seal computes the fields that depend on others.
func (i *item) seal() *item {
	i.inner, i.called = newLevel(i.body), 0
	for _, terminal := range i.calls {
		i.called = mixed(i.called, uint64(terminal))
	}
	return i.count()
}

// count computes the fields that depend on the trips.
func (i *item) count() *item {
	i.cycles = i.inner.cycles || len(i.trips) > 1 || len(i.calls) > 1 && !i.completes(1)
	isCall := uint64(min(1, len(i.calls)))
	i.shape = hashOf(i.kind, uint64(i.part), i.inner.shape, uint64(len(i.body)), isCall)
	i.exact = hashOf(i.shape, i.inner.exact, i.called, uint64(len(i.calls)), uint64(len(i.trips)))
	for _, n := range i.trips {
		i.exact = mixed(i.exact, n)
	}
	return i
}

func newCall(terminal int32, kind, times uint64) *item {
	return (&item{calls: []int32{terminal}, kind: kind, part: -1, trips: []uint64{times}}).seal()
}

func newPart(rule int) *item {
	return (&item{part: rule, trips: []uint64{1}}).seal()
}

// newLoop returns a loop. A loop of a single loop is that loop.
func newLoop(body []*item, trips ...uint64) *item { return newLevel(body).loop(trips...) }

func (l level) loop(trips ...uint64) *item {
	if len(l.items) == 1 && len(trips) == 1 {
		if inner := l.items[0]; len(inner.trips) == 1 {
			return inner.with(inner.trips[0] * trips[0])
		}
	}
	return (&item{part: -1, body: l.items, inner: l, trips: shortest(trips)}).count()
}

// with returns a copy with other trips.
func (i *item) with(trips ...uint64) *item {
	other := *i
	other.trips = shortest(trips)
	return other.count()
}

func constant(trips []uint64) bool {
	return !slices.ContainsFunc(trips, func(t uint64) bool { return t != trips[0] })
}

// shortest returns the shortest cycle that generates trips.
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

// executions returns the number of executions of the body when the item is reached the given number
// of times; false: too many to be counted.
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

// completes reports whether the given number of times is a multiple of the cycle of a call's
// signatures.
func (i *item) completes(times uint64) bool {
	n, ok := i.executions(times)
	return ok && n%uint64(len(i.calls)) == 0
}

// repeated returns the first elements of a repeated cycle.
func repeated[T any](trips []T, times uint64) []T {
	all := make([]T, times)
	for k := range all {
		all[k] = trips[k%len(trips)]
	}
	return all
}

// union joins items of one shape that are reached one after the other, the k-th one times[k] times.
func (s *search) union(items []*item, times []uint64) (*item, bool) {
	same, total := true, uint64(0)
	for k, x := range items {
		same = same && x.exact == items[0].exact
		total += times[k]
	}
	if same && (!items[0].cycles || constant(times) && whole(items[0], times[0])) {
		return items[0], true
	}
	if total > maxCycle || !s.step(len(items)) {
		return nil, false
	}
	u := &item{kind: items[0].kind, part: items[0].part}
	inner, all := make([]uint64, len(items)), uint64(0)
	for k, x := range items {
		u.trips = append(u.trips, repeated(x.trips, times[k])...)
		var ok bool
		if inner[k], ok = x.executions(times[k]); !ok {
			return nil, false
		}
		all += inner[k]
	}
	u.trips = shortest(u.trips)
	if len(items[0].calls) > 0 {
		if all > maxCalls || !s.step(int(all)) {
			return nil, false
		}
		for k, x := range items {
			u.calls = append(u.calls, repeated(x.calls, inner[k])...)
		}
		if u.calls = shortest(u.calls); len(u.calls) == 0 {
			u.calls = items[0].calls // never made
		}
	}
	if !items[0].inner.cycles && !slices.ContainsFunc(items, func(x *item) bool { return x.inner.exact != items[0].inner.exact }) {
		u.body = items[0].body
		return u.seal(), true
	}
	column := make([]*item, len(items))
	for b := range items[0].body {
		for k, x := range items {
			column[k] = x.body[b]
		}
		x, ok := s.union(column, inner)
		if !ok {
			return nil, false
		}
		u.body = append(u.body, x)
	}
	return u.seal(), true
}

// whole reports whether the given number of times is a multiple of all cycles of an item.
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
