package program

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A builder makes the items of rules.
type builder struct {
	*search
	grammar grammar.Grammar
	kind    func(terminal int32) uint64 // function and call site
	places  []int                       // by rule: the number of items that replace it
	bodies  map[int]level               // by rule: these items, folded
	parts   map[int]bool

	// see skeleton.go
	lengths  []uint64 // calls by rule
	expanded uint64
}

func newBuilder(s *search, g grammar.Grammar, kind func(int32) uint64) *builder {
	b := &builder{search: s, grammar: g, kind: kind, places: make([]int, len(g.Rules)), bodies: map[int]level{}, parts: map[int]bool{}}
	for rule := len(g.Rules) - 1; rule >= 0; rule-- { // rules refer only to greater ones
		for _, symbol := range g.Rules[rule] {
			b.places[rule] += b.placesOf(symbol, b.places[rule])
		}
	}
	return b
}

// placesOf returns the number of items that replace a symbol, given the number of items before it.
func (b *builder) placesOf(symbol grammar.Symbol, after int) int {
	if !symbol.IsRule() || symbol.Count > 1 || b.isPart(symbol.Rule(), after) {
		return 1
	}
	return b.places[symbol.Rule()]
}

// isPart reports whether a rule becomes a part, given the number of items before it.
func (b *builder) isPart(rule, after int) bool {
	return after+b.places[rule] > maxItems && b.places[rule] > smallestPart
}

// body returns a rule as a level: a root, the body of a loop, or a part.
func (b *builder) body(rule int) level {
	if known, ok := b.bodies[rule]; ok {
		return known
	}
	items := b.list(rule, make([]*item, 0, b.places[rule]))
	folded := newLevel(b.fold(items))
	b.bodies[rule] = folded
	return folded
}

// list appends the items that replace a rule.
func (b *builder) list(rule int, items []*item) []*item {
	start := len(items)
	for _, s := range b.grammar.Rules[rule] {
		switch {
		case !b.step(1):
			return items
		case !s.IsRule():
			items = append(items, newCall(s.Value, b.kind(s.Value), s.Count))
		case s.Count > 1:
			items = append(items, b.body(s.Rule()).loop(s.Count))
		case b.isPart(s.Rule(), len(items)-start):
			b.parts[s.Rule()] = true
			items = append(items, newPart(s.Rule()))
		default:
			items = b.list(s.Rule(), items)
		}
	}
	return items
}

// threadsOf returns the threads of some classes that reach a rule.
func (b *builder) threadsOf(rule int, classes []class) []int {
	var threads []int
	for _, c := range classes {
		seen := make([]bool, len(b.grammar.Rules))
		if b.reaches(c.root, rule, seen) {
			threads = append(threads, c.threads...)
		}
	}
	slices.Sort(threads)
	return threads
}

// reaches reports whether a rule contains another one or is it; seen are the visited rules.
func (b *builder) reaches(from, rule int, seen []bool) bool {
	if from == rule {
		return true
	}
	if from > rule || seen[from] { // rules refer only to greater ones
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(b.grammar.Rules[from], func(s grammar.Symbol) bool {
		return s.IsRule() && b.reaches(s.Rule(), rule, seen)
	})
}
