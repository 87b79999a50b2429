package clusters

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace/grammar"
)

// TestHashKnowsTheExpansion: grammars that generate the same sequence have the same hash.
func TestHashKnowsTheExpansion(t *testing.T) {
	symbol := func(terminal int32) uint64 { return uint64(terminal) }
	t1 := func(v int32, n uint64) grammar.Symbol { return grammar.Symbol{Value: v, Count: n} }
	root := func(rules ...[]grammar.Symbol) hash { return hashes(grammar.Grammar{Rules: rules}, symbol)[0] }

	// abababab c, as a loop of four, as two loops of two, and spelt out in part
	want := root([]grammar.Symbol{t1(0, 1), t1(1, 1), t1(0, 1), t1(1, 1), t1(0, 1), t1(1, 1), t1(0, 1), t1(1, 1), t1(2, 1)})
	assert.Equal(t, want, root([]grammar.Symbol{grammar.RuleSymbol(1, 4), t1(2, 1)}, []grammar.Symbol{t1(0, 1), t1(1, 1)}))
	assert.Equal(t, want, root([]grammar.Symbol{grammar.RuleSymbol(1, 2), t1(2, 1)}, []grammar.Symbol{grammar.RuleSymbol(2, 2)}, []grammar.Symbol{t1(0, 1), t1(1, 1)}))
	assert.Equal(t, want, root([]grammar.Symbol{t1(0, 1), grammar.RuleSymbol(1, 3), t1(1, 1), t1(2, 1)}, []grammar.Symbol{t1(1, 1), t1(0, 1)}))
	assert.NotEqual(t, want, root([]grammar.Symbol{grammar.RuleSymbol(1, 5), t1(2, 1)}, []grammar.Symbol{t1(0, 1), t1(1, 1)}))
	assert.NotEqual(t, want, root([]grammar.Symbol{t1(2, 1), grammar.RuleSymbol(1, 4)}, []grammar.Symbol{t1(0, 1), t1(1, 1)}))

	// 2^40 of a symbol costs nothing
	assert.Equal(t, root([]grammar.Symbol{t1(3, 1<<40)}), root([]grammar.Symbol{grammar.RuleSymbol(1, 1<<20)}, []grammar.Symbol{t1(3, 1<<20)}))
}
