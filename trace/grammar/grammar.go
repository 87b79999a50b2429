package grammar

// A Symbol is a terminal or a rule, repeated Count times. Value ≥ 0 is a terminal (an index into
// the call signature table), Value < 0 is the rule with index −Value−1.
type Symbol struct {
	Value int32
	Count uint64
}

// IsRule reports whether s names a rule; Rule is its index then.
func (s Symbol) IsRule() bool { return s.Value < 0 }

// Rule returns the index of the rule that s names.
func (s Symbol) Rule() int { return int(-s.Value - 1) }

// RuleSymbol returns the symbol of a rule, repeated count times.
func RuleSymbol(rule int, count uint64) Symbol { return Symbol{Value: int32(-rule - 1), Count: count} }

// A Grammar generates exactly one sequence of terminals. Rules[i] is the body of rule i; rules
// refer only to rules with a greater index, so the grammar is acyclic by construction. Rule 0 is
// the root in a rank's own grammar; in a merged trace, every Thread names its root.
type Grammar struct {
	Rules [][]Symbol
}

// Size of a symbol in memory, and of a rule without its symbols.
const (
	SymbolBytes = 16
	RuleBytes   = 24
)

// Bytes is the size of the rules in memory.
func (g Grammar) Bytes() int64 {
	n := int64(len(g.Rules)) * RuleBytes
	for _, body := range g.Rules {
		n += int64(len(body)) * SymbolBytes
	}
	return n
}
