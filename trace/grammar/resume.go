package grammar

import (
	"errors"
	"slices"
)

// Grammar returns the grammar of everything appended so far. Rules are numbered in reverse
// postorder of a walk from the root, so equal states give equal grammars. s can be used further.
//
// The grammar contains the whole state: Resume(g) continues as if there had been no interruption,
// so a checkpoint does not change what is recorded. Where an incomplete repetition of the root's
// last symbol R^k has been appended, the root ends in R^(k−1) R and the terminals of the repetition
// so far. Where a rule has been begun, the root ends in the symbols of it so far.
func (s *Sequitur) Grammar() Grammar {
	order := s.order()
	number := make([]int32, len(s.rules))
	for i, rule := range order {
		number[rule] = int32(i)
	}
	translate := func(symbol Symbol) Symbol {
		if symbol.IsRule() {
			symbol.Value = ruleValue(number[ruleOf(symbol.Value)])
		}
		return symbol
	}
	g := Grammar{Rules: make([][]Symbol, len(order))}
	symbols := make([]Symbol, 0, len(s.nodes)) // of all bodies: a checkpoint requests many of them
	for i, rule := range order {
		guard, first := s.rules[rule].guard, len(symbols)
		for n := s.nodes[guard].next; n != guard; n = s.nodes[n].next {
			symbols = append(symbols, translate(Symbol{s.nodes[n].value, s.nodes[n].count}))
		}
		g.Rules[i] = symbols[first:len(symbols):len(symbols)]
	}
	if len(s.path) > 0 {
		root := g.Rules[0]
		if s.begun == 0 {
			last := &root[len(root)-1]
			last.Count--
			root = append(root, Symbol{last.Value, 1})
		}
		for symbol := range s.partial {
			root = append(root, translate(symbol))
		}
		g.Rules[0] = root
	}
	return g
}

// order lists the rules so that every rule comes before those that its body names.
func (s *Sequitur) order() []int32 {
	order := make([]int32, 0, len(s.rules))
	seen := make([]bool, len(s.rules))
	stack := []int32{s.nodes[s.rules[0].guard].next} // the next node to visit on each level
	seen[0] = true
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		if s.nodes[n].count == 0 {
			order = append(order, ruleOf(s.nodes[n].value))
			stack = stack[:len(stack)-1]
			continue
		}
		stack[len(stack)-1] = s.nodes[n].next
		if value := s.nodes[n].value; value < 0 && !seen[ruleOf(value)] {
			seen[ruleOf(value)] = true
			stack = append(stack, s.first(value))
		}
	}
	slices.Reverse(order)
	return order
}

// Resume continues where s.Grammar() was taken: the result is the same as without the interruption.
// Any other valid grammar with root 0 is accepted, too, and brought into Sequitur's form.
func Resume(g Grammar) (*Sequitur, error) {
	if len(g.Rules) == 0 {
		return nil, errors.New("trace: resume: grammar has no rules")
	}
	lengths, err := g.Lengths()
	if err != nil {
		return nil, err
	}
	at := findPrediction(g, lengths)
	s := loadSequitur(g, at.whole)
	if at.ahead > 0 && !(s.predictAgain(at) && slices.EqualFunc(s.Grammar().Rules, g.Rules, slices.Equal)) {
		// g does not come from Sequitur: loading it has changed rules, so that the prediction may
		// be another one than that of g, even in a rule of the same length.
		s = loadSequitur(g, len(g.Rules[0]))
	}
	s.length = lengths[0]
	return s, nil
}

// A prediction is the end of the root of a grammar, and the progress of its prediction.
type prediction struct {
	whole int    // symbols of the root without the predicted terminals at its end
	ahead uint64 // number of predicted terminals so far; 0: no prediction
	begun bool   // a rule was begun; otherwise a rule repeats
}

// findPrediction finds the prediction that was in progress when g was taken.
func findPrediction(g Grammar, lengths []uint64) prediction {
	root := g.Rules[0]
	for i := len(root) - 3; i >= 0; i-- {
		a, b := root[i], root[i+1]
		if a.Value != b.Value || !a.IsRule() || b.Count != 1 {
			continue
		}
		if ahead := expandedLength(root[i+2:], lengths); ahead < lengths[a.Rule()] &&
			slices.Equal(g.prefix(a.Rule(), ahead, lengths), root[i+2:]) {
			return prediction{whole: i + 2, ahead: ahead}
		}
	}
	// No digram but the root's last one occurs twice. So a digram in the root that equals the
	// beginning of a rule is one.
	begins := map[[2]Symbol]int{}
	for i, body := range g.Rules {
		if i > 0 && len(body) > 2 {
			begins[[2]Symbol{body[0], body[1]}] = i
		}
	}
	for i := 0; i+2 < len(root); i++ {
		rule, ok := begins[[2]Symbol{root[i], root[i+1]}]
		if !ok {
			continue
		}
		if n := expandedLength(root[i:], lengths); n < lengths[rule] && slices.Equal(g.prefix(rule, n, lengths), root[i:]) {
			return prediction{i + 2, expandedLength(root[i+2:], lengths), true}
		}
		break
	}
	return prediction{whole: len(root)}
}

func expandedLength(symbols []Symbol, lengths []uint64) (n uint64) {
	for _, symbol := range symbols {
		n += symbol.length(lengths)
	}
	return n
}

// prefix returns the first n terminals of a rule as symbols, as Sequitur.partial does; n is less
// than the rule's length.
func (g Grammar) prefix(rule int, n uint64, lengths []uint64) (symbols []Symbol) {
	for {
		for _, symbol := range g.Rules[rule] {
			if n == 0 {
				return symbols
			}
			one := uint64(1)
			if symbol.IsRule() {
				one = lengths[symbol.Rule()]
			}
			k := min(n/one, symbol.Count)
			n -= k * one
			if k > 0 {
				symbols = append(symbols, Symbol{symbol.Value, k})
			}
			if k < symbol.Count {
				if n > 0 {
					rule = symbol.Rule()
				}
				break
			}
		}
		if n == 0 {
			return symbols
		}
	}
}

// loadSequitur makes a Sequitur of g with only the first root symbols of rule 0.
func loadSequitur(g Grammar, root int) *Sequitur {
	s := NewSequitur()
	index := make([]int32, len(g.Rules)) // 0: not reachable
	reachable := func(body []Symbol) {
		for _, symbol := range body {
			if symbol.IsRule() && index[symbol.Rule()] == 0 {
				index[symbol.Rule()] = s.newRule()
			}
		}
	}
	for i, body := range g.Rules {
		if i == 0 {
			body = body[:root]
		} else if index[i] == 0 {
			continue
		}
		reachable(body)
		guard := s.rules[index[i]].guard
		for _, symbol := range body {
			value := symbol.Value
			if symbol.IsRule() {
				value = ruleValue(index[symbol.Rule()])
			}
			last := s.nodes[guard].prev
			if last != guard && s.nodes[last].value == value {
				s.nodes[last].count += symbol.Count
				continue
			}
			n := s.newNode(value, symbol.Count)
			s.link(last, n)
			s.link(n, guard)
			s.pending = append(s.pending, n)
		}
	}
	slices.Reverse(s.pending) // work pops from the end
	for rule := range int32(len(s.rules)) {
		if r := s.rules[rule]; r.uses == 1 {
			s.inlineIfSingle(r.first)
		}
	}
	for rule := range int32(len(s.rules)) {
		s.unit = append(s.unit, rule)
	}
	s.work()
	s.unregister(s.nodes[s.tail()].prev)
	s.expect()
	return s
}

// ruleLengths are the lengths of the rules' expansions, by the rules' own indices.
func (s *Sequitur) ruleLengths() []uint64 {
	lengths := make([]uint64, len(s.rules))
	order := s.order()
	for _, rule := range slices.Backward(order) {
		guard := s.rules[rule].guard
		for n := s.nodes[guard].next; n != guard; n = s.nodes[n].next {
			one := uint64(1)
			if value := s.nodes[n].value; value < 0 {
				one = lengths[ruleOf(value)]
			}
			lengths[rule] += one * s.nodes[n].count
		}
	}
	return lengths
}

// predictAgain restores a prediction. It fails if no rule is predicted, or the rule is too short.
func (s *Sequitur) predictAgain(p prediction) bool {
	lengths := s.ruleLengths()
	if p.begun {
		rule, third := s.begunRule(s.findLast())
		if rule == 0 {
			return false
		}
		s.begun = rule
		return s.seek(third, p.ahead, lengths)
	}
	value := s.nodes[s.tail()].value
	if value >= 0 || s.expected < 0 {
		return false
	}
	return s.seek(s.first(value), p.ahead, lengths)
}

// seek moves the prediction forward by n > 0 terminals from a node. It fails if that leaves the
// node's rule.
func (s *Sequitur) seek(at int32, n uint64, lengths []uint64) bool {
	for s.nodes[at].count != 0 {
		value, count := s.nodes[at].value, s.nodes[at].count
		one := uint64(1)
		if value < 0 {
			one = lengths[ruleOf(value)]
		}
		if n >= one*count {
			n -= one * count
			at = s.nodes[at].next
			continue
		}
		s.path = append(s.path, visit{at, n / one})
		if n %= one; value >= 0 {
			s.expected = value
			return true
		}
		at = s.first(value)
	}
	return false
}
