package merger

import (
	"github.com/cairn-mpi/cairn/trace/grammar"
)

// A ruleTable has distinct rules; a rule refers only to earlier ones.
type ruleTable struct {
	bodies [][]grammar.Symbol
	ids    map[string]int32
}

func (t *ruleTable) add(body []grammar.Symbol) int32 {
	key := string(appendRule(nil, body))
	if id, ok := t.ids[key]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]int32{}
	}
	id := int32(len(t.bodies))
	t.bodies = append(t.bodies, body)
	t.ids[key] = id
	return id
}

// children lists the rules of a shape so that each comes after all that it refers to.
func (s *shape) children() []int {
	order := make([]int, 0, len(s.rules))
	done := make([]bool, len(s.rules))
	type position struct{ rule, next int }
	stack := []position{{}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(s.rules[top.rule]) {
			order = append(order, top.rule)
			stack = stack[:len(stack)-1]
			continue
		}
		symbol := s.rules[top.rule][top.next]
		top.next++
		if symbol.IsRule() && !done[symbol.Rule()] {
			done[symbol.Rule()] = true
			stack = append(stack, position{rule: symbol.Rule()})
		}
	}
	return order
}

// exponentColumns returns, by symbol, the columns of exponents in which the rows of the trace
// differ, and the exponents of all symbols in the first row.
func (s *exported) exponentColumns() (fixed []int64, varying map[int]func(place int) int64) {
	varying = map[int]func(place int) int64{}
	for _, body := range s.shape.rules {
		for k := range body {
			fixed = append(fixed, int64(body[k].Count))
		}
	}
	for k, column := range s.shape.exponents {
		values := s.valuesOf(column)
		fixed[k] = values.At(0)
		if _, ok := values.Constant(); !ok {
			varying[k] = values.Lookup()
		}
	}
	return fixed, varying
}

// instances lists the distinct vectors of exponents in order of first use, and sets the instance of
// each place.
func (s *exported) instances() (exponents [][]int64) {
	fixed, varying := s.exponentColumns()
	if len(varying) == 0 {
		s.instance.PushRun(0, 0, s.rows.Len())
		return [][]int64{fixed}
	}
	columns := make([]int, 0, len(varying))
	for k := range fixed {
		if varying[k] != nil {
			columns = append(columns, k)
		}
	}
	seen := map[string]int{}
	var key []byte
	for place := range s.rows.Len() {
		key = key[:0]
		for _, k := range columns {
			key = appendCount(key, varying[k](place))
		}
		i, known := seen[string(key)]
		if !known {
			i = len(exponents)
			seen[string(key)] = i
			mine := append([]int64(nil), fixed...)
			for _, k := range columns {
				mine[k] = varying[k](place)
			}
			exponents = append(exponents, mine)
		}
		s.instance.Push(int64(i))
	}
	return exponents
}

// addRoots makes the rules of a shape, once for each vector of exponents, with the given terminals.
func (s *exported) addRoots(rules *ruleTable, exponents [][]int64, terminals []int32) {
	firstExponent := s.shape.firstExponents()
	order := s.shape.children()
	s.roots = make([]int32, len(exponents))
	place := make([]int32, len(s.shape.rules))
	for k, mine := range exponents {
		for _, i := range order {
			body := make([]grammar.Symbol, 0, len(s.shape.rules[i]))
			for at, symbol := range s.shape.rules[i] {
				symbol.Count = uint64(mine[firstExponent[i]+at])
				if symbol.IsRule() {
					symbol = grammar.RuleSymbol(int(place[symbol.Rule()]), symbol.Count)
				} else {
					symbol.Value = terminals[symbol.Value]
				}
				// two terminals that became one are joined into one run
				if n := len(body); n > 0 && body[n-1].Value == symbol.Value {
					body[n-1].Count += symbol.Count
					continue
				}
				body = append(body, symbol)
			}
			place[i] = rules.add(body)
		}
		s.roots[k] = place[0]
	}
}

// firstExponents returns, for each rule, the index of its first exponent in a vector of exponents.
func (s *shape) firstExponents() []int {
	first := make([]int, len(s.rules))
	n := 0
	for i, body := range s.rules {
		first[i] = n
		n += len(body)
	}
	return first
}

// countTerminals counts the occurrences of each local terminal.
func (s *exported) countTerminals(exponents [][]int64) {
	order := s.shape.children()
	firstExponent := s.shape.firstExponents()
	for _, mine := range exponents {
		times := make([]uint64, len(s.shape.rules))
		times[0] = 1
		total := make([]uint64, len(s.shape.templates))
		for at := len(order) - 1; at >= 0; at-- {
			i := order[at]
			for j, symbol := range s.shape.rules[i] {
				n := times[i] * uint64(mine[firstExponent[i]+j])
				if symbol.IsRule() {
					times[symbol.Rule()] += n
				} else {
					total[symbol.Value] += n
				}
			}
		}
		s.counts = append(s.counts, total)
	}
}
