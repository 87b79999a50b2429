package phases

import (
	mathbits "math/bits"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A class identifies calls here: function and call site.
type class struct {
	function uint16
	site     uint32
}

// Limits of what counts as a loop.
const (
	minTrips = 3    // minimum number of a repetition
	minShare = 0.02 // minimum fraction of the thread's calls for a repetition
	// A loop with the fraction inside of its calls in an inner loop has that one's iterations if
	// the inner loop makes at most period trips (steps with a reduction or output every so often)
	// or if it makes fewer than fewTrips itself.
	inside     = 0.8
	period     = 16
	fewTrips   = 8
	irregular  = 10  // minimum number of occurrences of a class in a loop without repetitions
	sameLoop   = 0.8 // adjacent loops with this fraction in common (Jaccard) are one
	sameAcross = 0.5 // the same for loops of different ranks
	// trips by which grammars of the same loop may differ: the first and the last are
	// not always included
	peeled  = 2
	maxBody = 100_000 // maximum calls of a body that is examined
)

// A loop is a repetition in a root, with the adjacent calls that belong to it.
type loop struct {
	from, to uint64 // calls of the thread, from 0
	classes  bits
	body     map[int]uint64 // number of calls by class, of one trip
	order    map[int]int    // last position of a class in the body
	trips    uint64
	repeated uint64 // calls of the body in its largest repetition of several calls
	phase    *section
	anchor   int // class; −1: none
}

// bits is a set of classes.
type bits []uint64

func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }

func (b bits) within(o bits) bool {
	for i := range b {
		if b[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

func (b bits) add(o bits) {
	for i := range b {
		b[i] |= o[i]
	}
}

func (b bits) count() int {
	n := 0
	for _, word := range b {
		n += mathbits.OnesCount64(word)
	}
	return n
}

// common returns the number of classes in both sets, and in either.
func common(a, b bits) (both, either int) {
	for i := range a {
		both += mathbits.OnesCount64(a[i] & b[i])
		either += mathbits.OnesCount64(a[i] | b[i])
	}
	return both, either
}

func jaccard(a, b bits) float64 {
	both, either := common(a, b)
	if either == 0 {
		return 0
	}
	return float64(both) / float64(either)
}

// A finder finds loops in the rules of a grammar.
type finder struct {
	grammar grammar.Grammar
	lengths []uint64
	class   []int // by terminal
	classes int
	sets    []bits // by rule; nil: not known yet
}

func (f *finder) length(s grammar.Symbol) uint64 {
	if s.IsRule() {
		return s.Count * f.lengths[s.Rule()]
	}
	return s.Count
}

func (f *finder) setOf(s grammar.Symbol) bits {
	if !s.IsRule() {
		b := make(bits, (f.classes+63)/64)
		b.set(f.class[s.Value])
		return b
	}
	return f.ruleSet(s.Rule())
}

func (f *finder) ruleSet(rule int) bits {
	if f.sets[rule] == nil {
		b := make(bits, (f.classes+63)/64)
		f.sets[rule] = b
		for _, s := range f.grammar.Rules[rule] {
			if s.IsRule() {
				b.add(f.ruleSet(s.Rule()))
			} else {
				b.set(f.class[s.Value])
			}
		}
	}
	return f.sets[rule]
}

// An item is a symbol in the sequence of a root, in which large rules that are no repetitions are
// expanded.
type item struct {
	symbol   grammar.Symbol
	from, to uint64
	loop     *loop // loop that it belongs to
}

// loops returns the loops of a root, in order.
func (f *finder) loops(root int) []*loop {
	total := f.lengths[root]
	least := max(minTrips, uint64(minShare*float64(total)))
	items := f.items(nil, root, 0, least)
	var list []*loop
	for {
		// the largest repetition that is not part of a loop yet
		best := -1
		for i := range items {
			it := &items[i]
			if it.loop == nil && it.symbol.Count >= minTrips && it.to-it.from >= least && (best < 0 || it.to-it.from > items[best].to-items[best].from) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		list = append(list, f.grow(items, best))
	}
	list = merge(list)
	covered := uint64(0)
	for _, l := range list {
		covered += l.to - l.from
	}
	if covered*5 < total {
		if l := f.withoutRepetition(root); l != nil {
			return []*loop{l}
		}
	}
	return list
}

func (f *finder) items(list []item, rule int, from, least uint64) []item {
	for _, s := range f.grammar.Rules[rule] {
		n := f.length(s)
		if s.IsRule() && s.Count < minTrips && f.lengths[s.Rule()] >= least {
			for range s.Count {
				list = f.items(list, s.Rule(), from, least)
				from += f.lengths[s.Rule()]
			}
			continue
		}
		list = append(list, item{symbol: s, from: from, to: from + n})
		from += n
	}
	return list
}

// grow makes a loop of a repetition and adjacent calls of the same call sites.
func (f *finder) grow(items []item, at int) *loop {
	it := &items[at]
	l := &loop{from: it.from, to: it.to, classes: append(bits(nil), f.setOf(it.symbol)...), trips: it.symbol.Count}
	l.body, l.order = f.bodyOf(it.symbol)
	if it.symbol.IsRule() {
		l.repeated = f.repetition(it.symbol.Rule())
	}
	it.loop = l
	for i := at + 1; i < len(items) && items[i].loop == nil; i++ {
		if !f.setOf(items[i].symbol).within(l.classes) {
			if items[i].symbol.IsRule() {
				l.to += f.common(items[i].symbol, l.classes, false)
			}
			break
		}
		items[i].loop, l.to = l, items[i].to
	}
	for i := at - 1; i >= 0 && items[i].loop == nil; i-- {
		if !f.setOf(items[i].symbol).within(l.classes) {
			if items[i].symbol.IsRule() {
				l.from -= f.common(items[i].symbol, l.classes, true)
			}
			break
		}
		items[i].loop, l.from = l, items[i].from
	}
	return l
}

// common returns the number of calls at the beginning, or at the end, of a rule that are of these
// classes.
func (f *finder) common(s grammar.Symbol, of bits, end bool) uint64 {
	if s.Count != 1 || f.lengths[s.Rule()] > maxBody {
		return 0
	}
	calls := f.grammar.Expand(s.Rule())
	n := 0
	for n < len(calls) {
		next := calls[n]
		if end {
			next = calls[len(calls)-1-n]
		}
		if !of.has(f.class[next]) {
			break
		}
		n++
	}
	return uint64(n)
}

func (f *finder) bodyOf(s grammar.Symbol) (counts map[int]uint64, order map[int]int) {
	counts, order = map[int]uint64{}, map[int]int{}
	if !s.IsRule() {
		return map[int]uint64{f.class[s.Value]: 1}, map[int]int{f.class[s.Value]: 0}
	}
	for _, o := range f.grammar.Counts(s.Rule()) {
		counts[f.class[o.Terminal]] += o.Count
	}
	i := 0
	for terminal := range f.grammar.All(s.Rule()) {
		order[f.class[terminal]] = i
		if i++; i > maxBody {
			break
		}
	}
	return counts, order
}

// repetition returns the number of calls of the largest repetition in a rule that has more than one
// call.
func (f *finder) repetition(rule int) uint64 {
	most := uint64(0)
	for _, s := range f.grammar.Rules[rule] {
		switch {
		case !s.IsRule():
		case s.Count > 1:
			most = max(most, f.length(s))
		default:
			most = max(most, f.repetition(s.Rule()))
		}
	}
	return most
}

// merge merges loops with the same call sites and little between them.
func merge(list []*loop) []*loop {
	sortLoops(list)
	var merged []*loop
	for _, l := range list {
		if n := len(merged); n > 0 {
			p := merged[n-1]
			gap := uint64(0)
			if l.from > p.to {
				gap = l.from - p.to
			}
			if jaccard(p.classes, l.classes) >= sameLoop && gap <= 2*max(p.calls(), l.calls()) {
				p.to = max(p.to, l.to)
				p.classes.add(l.classes)
				if l.trips*l.calls() > p.trips*p.calls() {
					p.body, p.order, p.trips, p.repeated = l.body, l.order, l.trips, l.repeated
				}
				continue
			}
			l.from = max(l.from, p.to)
		}
		merged = append(merged, l)
	}
	return merged
}

// calls returns the length of the body.
func (l *loop) calls() uint64 {
	n := uint64(0)
	for _, c := range l.body {
		n += c
	}
	return n
}

// withoutRepetition makes a loop of frequent calls if no two iterations are alike, as with a master
// and its workers.
func (f *finder) withoutRepetition(root int) *loop {
	totals := map[int]uint64{}
	for _, o := range f.grammar.Counts(root) {
		totals[f.class[o.Terminal]] += o.Count
	}
	l := &loop{classes: make(bits, (f.classes+63)/64), body: map[int]uint64{}, order: map[int]int{}}
	for c, n := range totals {
		if n >= irregular {
			l.classes.set(c)
			if l.trips == 0 || n < l.trips {
				l.trips = n
			}
		}
	}
	if l.trips == 0 {
		return nil
	}
	for c, n := range totals {
		if l.classes.has(c) {
			l.body[c] = max(1, n/l.trips)
		}
	}
	at, first := uint64(0), true
	for terminal := range f.grammar.All(root) {
		if l.classes.has(f.class[terminal]) {
			if first {
				l.from, first = at, false
			}
			l.to = at + 1
		}
		at++
	}
	return l
}
