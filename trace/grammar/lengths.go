package grammar

import (
	"fmt"
	"math"
	"math/bits"
)

// Validate returns an error unless
//
//   - rules refer only to existing rules with greater indices,
//   - exponents are at least 1,
//   - bodies are not empty (an empty sequence is a root with an empty body),
//   - and no rule expands to 2^63 terminals or more.
func (g Grammar) Validate() error {
	_, err := g.Lengths()
	return err
}

// Lengths returns the number of terminals that each rule expands to. The error is that of Validate.
func (g Grammar) Lengths() ([]uint64, error) {
	lengths := make([]uint64, len(g.Rules))
	for i := len(g.Rules) - 1; i >= 0; i-- {
		var sum uint64
		for _, symbol := range g.Rules[i] {
			one := uint64(1)
			if symbol.IsRule() {
				if r := symbol.Rule(); r <= i || r >= len(g.Rules) {
					return nil, fmt.Errorf("trace: grammar: rule %d refers to rule %d of %d", i, r, len(g.Rules))
				}
				one = lengths[symbol.Rule()]
				if one == 0 {
					return nil, fmt.Errorf("trace: grammar: rule %d refers to the empty rule %d", i, symbol.Rule())
				}
			}
			if symbol.Count == 0 {
				return nil, fmt.Errorf("trace: grammar: exponent 0 in rule %d", i)
			}
			over, product := bits.Mul64(one, symbol.Count)
			total, carry := bits.Add64(sum, product, 0)
			if over != 0 || carry != 0 || total > math.MaxInt64 {
				return nil, fmt.Errorf("trace: grammar: rule %d is longer than 2^63", i)
			}
			sum = total
		}
		lengths[i] = sum
	}
	return lengths, nil
}

// length is the number of terminals that the symbol expands to.
func (s Symbol) length(lengths []uint64) uint64 {
	if s.IsRule() {
		return lengths[s.Rule()] * s.Count
	}
	return s.Count
}
