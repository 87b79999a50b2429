package clusters

import (
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A pathFinder lists the distinct calls of rules in order of first use.
type pathFinder struct {
	grammar grammar.Grammar
	site    func(terminal int32) uint64
	seen    []int // by rule: the round in which it was visited
	round   int
	of      map[int][]uint64 // by root
}

func newPathFinder(g grammar.Grammar, site func(terminal int32) uint64) *pathFinder {
	return &pathFinder{grammar: g, site: site, seen: make([]int, len(g.Rules)), of: map[int][]uint64{}}
}

// path returns the distinct (function, call site) of a root's expansion.
func (p *pathFinder) path(root int) []uint64 {
	if known, ok := p.of[root]; ok {
		return known
	}
	list := p.pathOf(p.grammar.Rules[root])
	p.of[root] = list
	return list
}

// pathOf returns those of some symbols.
func (p *pathFinder) pathOf(symbols []grammar.Symbol) []uint64 {
	p.round++
	found := map[uint64]bool{}
	var list []uint64
	// The stack has the rest of the bodies that are being read: grammars can be deep.
	stack := [][]grammar.Symbol{symbols}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		s := (*top)[0]
		*top = (*top)[1:]
		switch {
		case !s.IsRule():
			if call := p.site(s.Value); !found[call] {
				found[call] = true
				list = append(list, call)
			}
		case p.seen[s.Rule()] != p.round:
			p.seen[s.Rule()] = p.round
			stack = append(stack, p.grammar.Rules[s.Rule()])
		}
	}
	return list
}
