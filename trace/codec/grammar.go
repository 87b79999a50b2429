package codec

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

var errGrammar = errors.New("trace: damaged grammar")

// AppendGrammar appends the encoding of g (docs/format.md, "Plain grammars"): a sequence with
// the number of symbols of each rule, then for every symbol a varint (a terminal t as 2t, rule
// j in the body of rule i as 2(j−i−1)+1), then a sequence with the exponents less 1. The
// grammar must be valid.
func AppendGrammar(b []byte, g grammar.Grammar) []byte {
	sizes := make([]int64, len(g.Rules))
	total := 0
	for i, body := range g.Rules {
		sizes[i] = int64(len(body))
		total += len(body)
	}
	exponents := make([]int64, 0, total)
	for _, body := range g.Rules {
		for _, symbol := range body {
			exponents = append(exponents, int64(symbol.Count-1))
		}
	}
	b = appendPieces(b, sizes)
	for i, body := range g.Rules {
		for _, symbol := range body {
			x := uint64(symbol.Value) << 1
			if symbol.IsRule() {
				x = uint64(symbol.Rule()-i-1)<<1 | 1
			}
			b = binary.AppendUvarint(b, x)
		}
	}
	return appendPieces(b, exponents)
}

// DecodeGrammar reads what AppendGrammar wrote and returns the rest of b. The grammar is valid.
// Memory is proportional to len(b).
func DecodeGrammar(b []byte) (g grammar.Grammar, rest []byte, err error) {
	// Every symbol takes a byte. Runs of rules of equal size are bounded by the symbols they need
	// and by this budget.
	d := Decoder{Rest: b, Budget: NewBudget(64*int64(len(b)) + 4096)}
	g = d.Grammar()
	if d.Err != nil {
		return grammar.Grammar{}, nil, d.Err
	}
	return g, d.Rest, nil
}

// Grammar reads what AppendGrammar wrote.
func (d *Decoder) Grammar() grammar.Grammar {
	sizes := d.pieces()
	total := 0
	for _, n := range sizes {
		if n < 0 || n > int64(len(d.Rest)) || total+int(n) > len(d.Rest) {
			d.Fail(errGrammar)
			return grammar.Grammar{}
		}
		total += int(n)
	}
	if !d.Budget.Take(int64(total)*grammar.SymbolBytes + int64(len(sizes))*grammar.RuleBytes) {
		d.Fail(ErrMemory)
		return grammar.Grammar{}
	}
	g := grammar.Grammar{Rules: make([][]grammar.Symbol, len(sizes))}
	symbols := make([]grammar.Symbol, total)
	rest := symbols
	for i, n := range sizes {
		g.Rules[i] = rest[:n:n]
		rest = rest[n:]
		for k := range g.Rules[i] {
			x := d.UvarintUpTo(math.MaxUint32)
			if value := x >> 1; x&1 == 0 {
				g.Rules[i][k].Value = int32(value)
			} else if value+uint64(i)+1 < uint64(len(sizes)) {
				g.Rules[i][k] = grammar.RuleSymbol(int(value)+i+1, 0)
			} else {
				d.Fail(errGrammar)
			}
		}
	}
	exponents := d.pieces()
	if d.Err == nil && len(exponents) != total {
		d.Fail(errGrammar)
	}
	if d.Err != nil {
		return grammar.Grammar{}
	}
	for i, x := range exponents {
		symbols[i].Count = uint64(x) + 1
	}
	d.Release()
	if d.Err == nil {
		if err := g.Validate(); err != nil {
			d.Fail(err)
		}
	}
	return g
}

// The grammar of a whole trace. Rules that differ only in exponents share one list of symbols. So
// the trip counts of a loop may differ from rank to rank, or from one execution of the loop to the
// next, at the cost of the counts alone (ScalaTrace II §3.2 to 3.4). Rules are counted from the
// last one, so that a rule that many others refer to has the same number in all of them.

// AppendRules writes g, which must be valid.
func AppendRules(b []byte, g grammar.Grammar, purpose Effort) []byte {
	bodies := NewListTable()
	which := make([]int64, len(g.Rules))
	members := [][]int{}
	for i, rule := range g.Rules {
		symbols := make([]int64, len(rule))
		for k, s := range rule {
			symbols[k] = symbolCode(s, len(g.Rules))
		}
		n := bodies.Index(symbols)
		if n == len(members) {
			members = append(members, nil)
		}
		members[n] = append(members[n], i)
		which[i] = int64(n)
	}
	b = purpose.appendSequence(b, which)
	b = purpose.appendLists(b, bodies.Lists)
	total := 0
	for _, rule := range g.Rules {
		total += len(rule)
	}
	exponents := make([]int64, 0, total)
	for n, list := range bodies.Lists {
		for _, k := range bySymbol(list) {
			for _, rule := range members[n] {
				exponents = append(exponents, int64(g.Rules[rule][k].Count-1))
			}
		}
	}
	return purpose.appendSequence(b, exponents)
}

// bySymbol lists the positions of a body grouped by symbol.
func bySymbol(symbols []int64) []int32 {
	return positionsBy(len(symbols), func(i int32) int64 { return symbols[i] })
}

// positionsBy lists the positions 0 to n−1 sorted by written, stably.
func positionsBy(n int, written func(position int32) int64) []int32 {
	positions := make([]int32, n)
	for i := range positions {
		positions[i] = int32(i)
	}
	slices.SortFunc(positions, func(a, b int32) int {
		if x, y := written(a), written(b); x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a, b)
	})
	return positions
}

// Rules reads what AppendRules wrote. Symbols are most of the memory that a reader of an irregular
// trace needs, several times their size in the file. So they are decoded directly into the grammar,
// and no other list is as long.
func (d *Decoder) Rules() grammar.Grammar {
	which, lengths := d.Sequence(), d.Sequence()
	if d.Err != nil || !d.Temporary(int64(len(which))*4+int64(len(lengths))*24) {
		return grammar.Grammar{}
	}
	members := make([]int32, len(lengths)) // number of rules that share each body
	total, longest := int64(0), int64(0)
	for _, n := range which {
		if n < 0 || n >= int64(len(lengths)) || lengths[n] < 0 || lengths[n] > math.MaxInt32 {
			d.Fail(errGrammar)
			return grammar.Grammar{}
		}
		members[n]++
		total += lengths[n]
		longest = max(longest, lengths[n])
	}
	if !d.Budget.Take(total*grammar.SymbolBytes+int64(len(which))*grammar.RuleBytes) || !d.Temporary(longest*4) {
		d.Fail(ErrMemory)
		return grammar.Grammar{}
	}
	g := grammar.Grammar{Rules: make([][]grammar.Symbol, len(which))}
	bodies := rulesByBody(which, members)
	for n := range members {
		rules := bodies.rules(n)
		if len(rules) == 0 {
			d.Fail(errGrammar)
			return grammar.Grammar{}
		}
		for _, rule := range rules {
			g.Rules[rule] = make([]grammar.Symbol, lengths[n])
		}
	}
	d.bodies(g, bodies, lengths)
	exponents := NewValueStream(d.Rest, d.Budget)
	if d.Err != nil || exponents.encoded.left != uint64(total) {
		d.Fail(errGrammar)
		return grammar.Grammar{}
	}
	for n := range members {
		rules := bodies.rules(n)
		body := g.Rules[rules[0]]
		for _, rule := range rules[1:] {
			copy(g.Rules[rule], body)
		}
		for _, k := range positionsBy(len(body), func(k int32) int64 { return symbolCode(body[k], len(which)) }) {
			for _, rule := range rules {
				x, ok := exponents.Next()
				if !ok {
					d.Fail(exponents.Err())
					return grammar.Grammar{}
				}
				g.Rules[rule][k].Count = uint64(x) + 1
			}
		}
	}
	d.follow(exponents.encoded)
	if err := g.Validate(); err != nil {
		d.Fail(err)
	}
	return g
}

// bodyRules are the rules of a grammar grouped by their body.
type bodyRules struct {
	order []int32 // the rules of the first body, then those of the next
	ends  []int32
}

// rulesByBody groups the rules. members is the number of rules of each body; it becomes part of the
// result.
func rulesByBody(which []int64, members []int32) bodyRules {
	b := bodyRules{order: make([]int32, len(which)), ends: members}
	start := int32(0)
	for n, count := range members {
		b.ends[n] = start // the start for now; every rule that is added moves it on
		start += count
	}
	for rule, n := range which {
		b.order[b.ends[n]] = int32(rule)
		b.ends[n]++
	}
	return b
}

func (b *bodyRules) rules(body int) []int32 {
	if body == 0 {
		return b.order[:b.ends[0]]
	}
	return b.order[b.ends[body-1]:b.ends[body]]
}

// symbolCode is the encoding of a symbol in a grammar with the given number of rules.
func symbolCode(s grammar.Symbol, rules int) int64 {
	if s.IsRule() {
		return int64(rules-1-s.Rule())<<1 | 1
	}
	return int64(s.Value) << 1
}

// bodies fills in the symbols, without exponents, of the first rule of each body. The lengths have
// been read already.
func (d *Decoder) bodies(g grammar.Grammar, bodies bodyRules, lengths []int64) {
	body := func(n int) []grammar.Symbol { return g.Rules[bodies.rules(n)[0]] }
	for _, group := range groupLists(lengths) {
		n := int(lengths[group[0]])
		if n > len(group) {
			for _, i := range group {
				d.symbols(n, len(g.Rules), func(k int) *grammar.Symbol { return &body(i)[k] })
			}
			continue
		}
		d.symbols(n*len(group), len(g.Rules), func(k int) *grammar.Symbol { return &body(group[k%len(group)])[k/len(group)] })
	}
}

// symbols reads a sequence of n symbols.
func (d *Decoder) symbols(n, rules int, at func(k int) *grammar.Symbol) {
	if d.Err != nil {
		return
	}
	values := NewValueStream(d.Rest, d.Budget)
	if values.encoded.left != uint64(n) {
		d.Fail(errGrammar)
		return
	}
	for k := range n {
		x, ok := values.Next()
		if !ok {
			d.Fail(values.Err())
			return
		}
		value := x >> 1
		if x < 0 || value > math.MaxInt32 || x&1 == 1 && value >= int64(rules) {
			d.Fail(errGrammar)
			return
		}
		s := at(k)
		if s.Value = int32(value); x&1 == 1 {
			s.Value = grammar.RuleSymbol(rules-1-int(value), 0).Value
		}
	}
	d.follow(values.encoded)
}
