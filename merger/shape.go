package merger

import (
	"encoding/binary"
	"slices"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/codec"
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A shape is what threads share whose grammars are equal up to the numbering of terminals,
// exponents, and the numbers in their signatures. What differs is in columns, with a row for each
// thread:
//
//	of each signature, in order of first use: the caller's rank, the slots, the streams (see code)
//	of each symbol of each rule: its exponent, if it is not the same in all rows
type shape struct {
	templates []int32            // interned, in order of first use: the index is the terminal in rules
	rules     [][]grammar.Symbol // in order of first use, the root is 0; with the exponents of the first row
	first     []int              // of each template, its first column
	columns   []codec.Numbers
	exponents map[int]*codec.Numbers // by symbol, counted through all rules; few of them vary in a large grammar
	rows      int
}

// addExponents adds rows with the exponents of these rules.
func (s *shape) addExponents(rules [][]grammar.Symbol, rows int) {
	symbol := 0
	for i, body := range rules {
		for k := range body {
			column, first, mine := s.exponents[symbol], s.rules[i][k].Count, body[k].Count
			if column == nil && mine != first {
				column = &codec.Numbers{}
				column.PushRun(int64(first), 0, s.rows)
				if s.exponents == nil {
					s.exponents = map[int]*codec.Numbers{}
				}
				s.exponents[symbol] = column
			}
			if column != nil {
				column.PushRun(int64(mine), 0, rows)
			}
			symbol++
		}
	}
	s.rows += rows
}

// rulesOf returns the rules with the exponents of a row.
func (s *shape) rulesOf(row int) [][]grammar.Symbol {
	rules := make([][]grammar.Symbol, len(s.rules))
	symbol := 0
	for i, body := range s.rules {
		rules[i] = slices.Clone(body)
		for k := range body {
			if column := s.exponents[symbol]; column != nil {
				rules[i][k].Count = uint64(column.At(row))
			}
			symbol++
		}
	}
	return rules
}

// Codes are the elements of columns of slots and streams: a number doubled, or 2·k + 1, where k is
// an interned name (slots), or the interned sequence of a stream that varies between calls.
func numberCode(x int64) int64 { return x << 1 }
func nameCode(k int32) int64   { return int64(k)<<1 | 1 }

// codeFits reports whether a number has a code.
func codeFits(x int64) bool { return x<<1>>1 == x }

// localGrammar is the part of a grammar below a root, numbered by first use.
type localGrammar struct {
	rules     [][]grammar.Symbol // Value is local; Count is that of the input
	terminals []int32            // local terminal -> terminal of the input
}

// localize numbers rules and terminals below a root by first use.
func localize(g grammar.Grammar, root int) localGrammar {
	var l localGrammar
	terminal := map[int32]int32{}
	rule := map[int]int{root: 0}
	order := []int{root}
	// rules in order of first use by a walk that enters each rule once
	type position struct{ rule, next int }
	stack := []position{{root, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		body := g.Rules[top.rule]
		if top.next == len(body) {
			stack = stack[:len(stack)-1]
			continue
		}
		s := body[top.next]
		top.next++
		if !s.IsRule() {
			if _, known := terminal[s.Value]; !known {
				terminal[s.Value] = int32(len(l.terminals))
				l.terminals = append(l.terminals, s.Value)
			}
			continue
		}
		if _, known := rule[s.Rule()]; !known {
			rule[s.Rule()] = len(order)
			order = append(order, s.Rule())
			stack = append(stack, position{s.Rule(), 0})
		}
	}
	l.rules = make([][]grammar.Symbol, len(order))
	for i, r := range order {
		l.rules[i] = make([]grammar.Symbol, len(g.Rules[r]))
		for k, s := range g.Rules[r] {
			if s.IsRule() {
				l.rules[i][k] = grammar.RuleSymbol(rule[s.Rule()], s.Count)
			} else {
				l.rules[i][k] = grammar.Symbol{Value: terminal[s.Value], Count: s.Count}
			}
		}
	}
	return l
}

// key is equal for the grammars of one shape.
func (l *localGrammar) key(templates []int32) string {
	var b []byte
	for _, t := range templates {
		b = binary.AppendUvarint(b, uint64(t))
	}
	for _, body := range l.rules {
		b = binary.AppendUvarint(b, uint64(len(body)))
		for _, s := range body {
			b = binary.AppendVarint(b, int64(s.Value))
		}
	}
	return string(b)
}

// shapeOf finds or makes the shape of a local grammar with these templates.
func (p *internTable) shapeOf(l *localGrammar, templates []int32) int32 {
	key := string(binary.AppendUvarint(nil, uint64(len(templates)))) + l.key(templates)
	if id, ok := p.shapeIDs[key]; ok {
		return id
	}
	if p.shapeIDs == nil {
		p.shapeIDs = map[string]int32{}
	}
	s := shape{templates: templates, rules: l.rules}
	width := 0
	for _, t := range templates {
		s.first = append(s.first, width)
		width += p.templates[t].width()
	}
	s.columns = make([]codec.Numbers, width)
	id := int32(len(p.shapes))
	p.shapes = append(p.shapes, s)
	p.shapeIDs[key] = id
	return id
}

// addTemplate interns a template. Its signature must have interned sites.
func (p *internTable) addTemplate(t template) int32 {
	key := string(trace.AppendSignature(nil, &t.signature))
	if id, ok := p.templateIDs[key]; ok {
		return id
	}
	if p.templateIDs == nil {
		p.templateIDs = map[string]int32{}
	}
	id := int32(len(p.templates))
	made := t
	p.templates = append(p.templates, &made)
	p.templateIDs[key] = id
	return id
}

// addName interns the name of a special number.
func (p *internTable) addName(name string) int32 {
	if id, ok := p.nameIDs[name]; ok {
		return id
	}
	if p.nameIDs == nil {
		p.nameIDs = map[string]int32{}
	}
	id := int32(len(p.names))
	p.names = append(p.names, name)
	p.nameIDs[name] = id
	return id
}
