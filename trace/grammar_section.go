package trace

import (
	"cmp"
	"math"
	"slices"
)

// The grammar of a whole trace. Rules that differ only in exponents share their symbols, which stand once: so the trip
// counts of a loop may differ from rank to rank, or from one time the loop is entered to the next, for the price of the
// numbers (ScalaTrace II §3.2 to 3.4). Rules are counted from the last, so that what many rules refer to has the same
// name in all of them.

// appendRules writes g, which must be valid.
func appendRules(b []byte, g Grammar) []byte {
	bodies := newListTable()
	which := make([]int64, len(g.Rules))
	members := [][]int{}
	for i, rule := range g.Rules {
		symbols := make([]int64, len(rule))
		for k, s := range rule {
			if symbols[k] = int64(s.Value) << 1; s.IsRule() {
				symbols[k] = int64(len(g.Rules)-1-s.Rule())<<1 | 1
			}
		}
		n := bodies.index(symbols)
		if n == len(members) {
			members = append(members, nil)
		}
		members[n] = append(members[n], i)
		which[i] = int64(n)
	}
	b = AppendSequence(b, which)
	b = appendLists(b, bodies.lists)
	var exponents []int64
	for n, list := range bodies.lists {
		for _, k := range bySymbol(list) {
			for _, rule := range members[n] {
				exponents = append(exponents, int64(g.Rules[rule][k].Count-1))
			}
		}
	}
	return AppendSequence(b, exponents)
}

// bySymbol lists the places of a body, those of one symbol together.
func bySymbol(symbols []int64) []int {
	places := make([]int, len(symbols))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(symbols[a], symbols[b]) })
	return places
}

// rules reads what appendRules wrote.
func (d *decoder) rules() Grammar {
	which, bodies, exponents := d.sequence(), d.lists(), d.sequence()
	members := make([][]int, len(bodies))
	total := int64(0)
	for i, n := range which {
		if n < 0 || n >= int64(len(bodies)) {
			d.fail(errGrammar)
			return Grammar{}
		}
		members[n] = append(members[n], i)
		total += int64(len(bodies[n]))
	}
	if d.err != nil || total != int64(len(exponents)) || !d.budget.take(total*16+int64(len(which))*32) {
		d.fail(errGrammar)
		return Grammar{}
	}
	g := Grammar{Rules: make([][]Symbol, len(which))}
	for n, list := range bodies {
		for _, rule := range members[n] {
			g.Rules[rule] = make([]Symbol, len(list))
		}
		for _, k := range bySymbol(list) {
			x := list[k]
			value := x >> 1
			if x < 0 || value > math.MaxInt32 || x&1 == 1 && value >= int64(len(which)) {
				d.fail(errGrammar)
				return Grammar{}
			}
			for i, rule := range members[n] {
				symbol := Symbol{Value: int32(value), Count: uint64(exponents[i]) + 1}
				if x&1 == 1 {
					symbol.Value = RuleSymbol(len(which)-1-int(value), 0).Value
				}
				g.Rules[rule][k] = symbol
			}
			exponents = exponents[len(members[n]):]
		}
	}
	if err := g.Validate(); err != nil {
		d.fail(err)
	}
	return g
}
