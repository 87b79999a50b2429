package program

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A Tree is the program of all ranks like Findings, but as numbers for other analyses instead of
// words. It has the aligned calls of the threads with one number.
type Tree struct {
	Body []*Step
	// Class is the class of each thread by its index in Threads, −1 for threads with another
	// number. The threads of a class make the same calls.
	Class []int
	// Steps is the number of steps: their numbers are below it.
	Steps int
}

// A Step is a call or a loop of a Tree.
type Step struct {
	Number int // in order of the text
	// Terminal is one of a call's signatures, all of which have its function and call site. −1: a
	// loop.
	Terminal int32
	Body     []*Step // of a loop
	trips    map[int][]uint64
	calls    map[int][]int32
}

// Trips returns how often a class executes the step each time that it reaches it, as a cycle. Nil:
// the class does not have it.
func (s *Step) Trips(class int) []uint64 { return s.trips[class] }

// Calls returns the signatures that a class calls one after the other, as a cycle; nil for a loop.
func (s *Step) Calls(class int) []int32 { return s.calls[class] }

// maxSteps is the maximum number of steps of a tree.
const maxSteps = 20_000

// ErrIrregular is the error of a program without a readable text.
var ErrIrregular = errors.New("the program is too irregular")

// NewTree returns the tree of the threads with a number. Calls with the signatures for which
// without is true are removed before the search for loops. The error is ErrIrregular if the tree
// would have more than 20,000 steps.
func NewTree(ctx context.Context, t timeline.Trace, number int, without func(terminal int32) bool) (*Tree, error) {
	w := &writer{search: newSearch(ctx), trace: t, signatures: t.Signatures()}
	b := newBuilder(newSearch(ctx), erased(t.Grammar(), without), w.kind)
	tree := &Tree{Class: make([]int, t.Threads().Len())}
	at := map[int]int{}
	var sizes []int
	for i, thread := range t.Threads().All() {
		tree.Class[i] = -1
		if thread.Thread != number {
			continue
		}
		root := thread.Root
		k, known := at[root]
		if !known {
			k = len(w.classes)
			at[root] = k
			w.classes, sizes = append(w.classes, class{root: root}), append(sizes, 0)
		}
		tree.Class[i] = k
		sizes[k]++
	}
	// the program of most threads first, like in Analyze
	order := make([]int, len(sizes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	var nodes []*node
	for i, k := range order {
		more := b.nodesOf(b.program(w.classes[k].root), k)
		if i == 0 {
			nodes = more
		} else {
			nodes = b.over(nodes, more)
		}
	}
	c := treeBuilder{builder: b, tree: tree}
	tree.Body = c.steps(nodes, nil)
	if b.err != nil {
		return nil, b.err
	}
	if c.over {
		return nil, fmt.Errorf("%w: it has more than %d lines", ErrIrregular, maxSteps)
	}
	return tree, nil
}

// erased returns a grammar without some terminals.
func erased(g grammar.Grammar, without func(int32) bool) grammar.Grammar {
	if without == nil {
		return g
	}
	rules := make([][]grammar.Symbol, len(g.Rules))
	for rule := len(g.Rules) - 1; rule >= 0; rule-- { // rules refer only to greater ones
		for _, s := range g.Rules[rule] {
			if s.IsRule() && len(rules[s.Rule()]) == 0 || !s.IsRule() && without(s.Value) {
				continue
			}
			rules[rule] = append(rules[rule], s)
		}
	}
	return grammar.Grammar{Rules: rules}
}

// A treeBuilder makes steps of nodes; references to parts are replaced by their content.
type treeBuilder struct {
	*builder
	tree *Tree
	over bool // there are too many steps
}

// steps returns nodes as steps. classes are those of the reference, for nodes of a part; nil: those
// of the nodes.
func (c *treeBuilder) steps(nodes []*node, classes []int) []*Step {
	var list []*Step
	for _, n := range nodes {
		if n.omitted > 0 || c.tree.Steps >= maxSteps || !c.step(1) {
			c.over = true
			return list
		}
		have := classes
		if have == nil {
			have = n.classes
		}
		if n.part >= 0 {
			list = append(list, c.steps(c.nodesOf(c.body(n.part).items, have[0]), have)...)
			continue
		}
		s := &Step{Number: c.tree.Steps, Terminal: -1, trips: map[int][]uint64{}}
		c.tree.Steps++
		for _, t := range n.trips {
			for _, class := range orElse(classes, t.classes) {
				s.trips[class] = t.trips
			}
		}
		if len(n.calls) > 0 {
			s.Terminal, s.calls = n.calls[0].cycle[0], map[int][]int32{}
			for _, v := range n.calls {
				for _, class := range orElse(classes, v.classes) {
					s.calls[class] = v.cycle
				}
			}
		}
		s.Body = c.steps(n.body, classes)
		list = append(list, s)
	}
	return list
}

func orElse(first, second []int) []int {
	if first != nil {
		return first
	}
	return second
}
