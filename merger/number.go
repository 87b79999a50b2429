package merger

import (
	"slices"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A numbering numbers what is reachable from some roots as in a trace. It depends on the roots'
// order and on their content, not on intern table numbers.
type numbering struct {
	signatures []int32 // interned signatures in order of first use: the index is the terminal
	terminal   []int32 // of each interned signature: −1 if it is not reached
	rules      []int32 // interned rules: a rule comes before all rules that it refers to
	rule       []int32 // of each interned rule that is reached: its index in rules
}

// number walks the rules, whose terminals are numbers of that many distinct signatures, from
// the roots. Terminals are numbered by first use. Rules are in reverse postorder of a walk
// from the last root to the first and from the end of each body to its beginning, so that the
// first root is rule 0.
func number(rules [][]grammar.Symbol, distinct int, roots []int32) numbering {
	n := numbering{terminal: slices.Repeat([]int32{-1}, distinct), rule: make([]int32, len(rules))}
	type position struct {
		rule int32
		next int
	}
	// first use: a walk in order that enters each rule once
	seen := make([]bool, len(rules))
	var stack []position // not the call stack: grammars may be deep
	for _, root := range roots {
		if seen[root] {
			continue
		}
		seen[root] = true
		stack = append(stack, position{rule: root})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			body := rules[top.rule]
			if top.next == len(body) {
				stack = stack[:len(stack)-1]
				continue
			}
			s := body[top.next]
			top.next++
			if s.IsRule() {
				if id := int32(s.Rule()); !seen[id] {
					seen[id] = true
					stack = append(stack, position{rule: id})
				}
				continue
			}
			if n.terminal[s.Value] < 0 {
				n.terminal[s.Value] = int32(len(n.signatures))
				n.signatures = append(n.signatures, s.Value)
			}
		}
	}
	clear(seen)
	for i := len(roots) - 1; i >= 0; i-- {
		if seen[roots[i]] {
			continue
		}
		seen[roots[i]] = true
		stack = append(stack, position{rule: roots[i], next: len(rules[roots[i]])})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.next == 0 {
				n.rules = append(n.rules, top.rule)
				stack = stack[:len(stack)-1]
				continue
			}
			top.next--
			if s := rules[top.rule][top.next]; s.IsRule() {
				if id := int32(s.Rule()); !seen[id] {
					seen[id] = true
					stack = append(stack, position{rule: id, next: len(rules[id])})
				}
			}
		}
	}
	slices.Reverse(n.rules)
	for i, id := range n.rules {
		n.rule[id] = int32(i)
	}
	return n
}

// body translates an interned rule to the numbers of the trace.
func (n *numbering) body(interned []grammar.Symbol) []grammar.Symbol {
	body := make([]grammar.Symbol, len(interned))
	for i, s := range interned {
		if s.IsRule() {
			body[i] = grammar.RuleSymbol(int(n.rule[int32(s.Rule())]), s.Count)
		} else {
			body[i] = grammar.Symbol{Value: n.terminal[s.Value], Count: s.Count}
		}
	}
	return body
}
