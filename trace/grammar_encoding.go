package trace

import (
	"encoding/binary"
	"errors"
	"math"
)

var errGrammar = errors.New("trace: damaged grammar")

// AppendGrammar appends the encoding of g (docs/format.md, "Plain grammars"): a sequence with the number of symbols of each
// rule, then for every symbol a varint (a terminal t as 2t, rule j in the body of rule i as 2(j−i−1)+1), then a
// sequence with the exponents less 1. The grammar must be valid.
func AppendGrammar(b []byte, g Grammar) []byte {
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

// DecodeGrammar reads what AppendGrammar wrote and returns the rest of b. The grammar is valid. Memory is
// proportional to len(b).
func DecodeGrammar(b []byte) (g Grammar, rest []byte, err error) {
	// every symbol has a byte; runs of rules with equal sizes are bounded by the symbols they need, and by this
	d := decoder{b: b, budget: newBudget(64*int64(len(b)) + 4096)}
	g = d.grammar()
	if d.err != nil {
		return Grammar{}, nil, d.err
	}
	return g, d.b, nil
}

func (d *decoder) grammar() Grammar {
	sizes := d.pieces()
	total := 0
	for _, n := range sizes {
		if n < 0 || n > int64(len(d.b)) || total+int(n) > len(d.b) {
			d.fail(errGrammar)
			return Grammar{}
		}
		total += int(n)
	}
	if !d.budget.take(int64(total)*symbolBytes + int64(len(sizes))*ruleBytes) {
		d.fail(errMemory)
		return Grammar{}
	}
	g := Grammar{Rules: make([][]Symbol, len(sizes))}
	symbols := make([]Symbol, total)
	rest := symbols
	for i, n := range sizes {
		g.Rules[i] = rest[:n:n]
		rest = rest[n:]
		for k := range g.Rules[i] {
			x := d.uvarintUpTo(math.MaxUint32)
			if value := x >> 1; x&1 == 0 {
				g.Rules[i][k].Value = int32(value)
			} else if value+uint64(i)+1 < uint64(len(sizes)) {
				g.Rules[i][k] = RuleSymbol(int(value)+i+1, 0)
			} else {
				d.fail(errGrammar)
			}
		}
	}
	exponents := d.pieces()
	if d.err == nil && len(exponents) != total {
		d.fail(errGrammar)
	}
	if d.err != nil {
		return Grammar{}
	}
	for i, x := range exponents {
		symbols[i].Count = uint64(x) + 1
	}
	d.release()
	if d.err == nil {
		if err := g.Validate(); err != nil {
			d.fail(err)
		}
	}
	return g
}
