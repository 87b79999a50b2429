package program

import "github.com/cairn-mpi/cairn/trace"

// Limits on the length of a text.
const (
	maxItems = 4_000 // of a level; rules that make it longer become parts
	smallest = 8     // no part is shorter
)

// A builder makes the items of rules.
type builder struct {
	grammar trace.Grammar
	kind    func(terminal int32) uint64 // function and call site
	lists   map[int][]*item             // by rule: what stands in its place
	bodies  map[int][]*item             // by rule: the same folded
	parts   map[int]bool

	// see skeleton.go
	lengths  []uint64 // calls by rule
	expanded uint64
}

func newBuilder(g trace.Grammar, kind func(int32) uint64) *builder {
	return &builder{grammar: g, kind: kind, lists: map[int][]*item{}, bodies: map[int][]*item{}, parts: map[int]bool{}}
}

// body is a rule as a level of its own: a root, the body of a loop, or a part.
func (b *builder) body(rule int) []*item {
	if known, ok := b.bodies[rule]; ok {
		return known
	}
	folded := fold(b.list(rule))
	b.bodies[rule] = folded
	return folded
}

// list is what stands in the place of a rule. Rules refer to greater ones only, so that this ends.
func (b *builder) list(rule int) []*item {
	if known, ok := b.lists[rule]; ok {
		return known
	}
	var items []*item
	for _, s := range b.grammar.Rules[rule] {
		switch {
		case !s.IsRule():
			items = append(items, newCall(s.Value, b.kind(s.Value), s.Count))
		case s.Count > 1:
			items = append(items, newLoop(b.body(s.Rule()), s.Count))
		default:
			inner := b.list(s.Rule())
			if len(items)+len(inner) > maxItems && len(inner) > smallest {
				b.parts[s.Rule()] = true
				inner = []*item{newPart(s.Rule())}
			}
			items = append(items, inner...)
		}
	}
	b.lists[rule] = items
	return items
}
