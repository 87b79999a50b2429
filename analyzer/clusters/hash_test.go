package clusters

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/trace"
)

// TestHashKnowsTheExpansion: grammars that generate one sequence have one hash, however they are cut.
func TestHashKnowsTheExpansion(t *testing.T) {
	symbol := func(terminal int32) uint64 { return uint64(terminal) }
	t1 := func(v int32, n uint64) trace.Symbol { return trace.Symbol{Value: v, Count: n} }
	root := func(rules ...[]trace.Symbol) hash { return hashes(trace.Grammar{Rules: rules}, symbol)[0] }

	// abababab c, as a loop of four, as two loops of two, and spelt out in part
	want := root([]trace.Symbol{t1(0, 1), t1(1, 1), t1(0, 1), t1(1, 1), t1(0, 1), t1(1, 1), t1(0, 1), t1(1, 1), t1(2, 1)})
	assert.Equal(t, want, root([]trace.Symbol{trace.RuleSymbol(1, 4), t1(2, 1)}, []trace.Symbol{t1(0, 1), t1(1, 1)}))
	assert.Equal(t, want, root([]trace.Symbol{trace.RuleSymbol(1, 2), t1(2, 1)}, []trace.Symbol{trace.RuleSymbol(2, 2)}, []trace.Symbol{t1(0, 1), t1(1, 1)}))
	assert.Equal(t, want, root([]trace.Symbol{t1(0, 1), trace.RuleSymbol(1, 3), t1(1, 1), t1(2, 1)}, []trace.Symbol{t1(1, 1), t1(0, 1)}))
	assert.NotEqual(t, want, root([]trace.Symbol{trace.RuleSymbol(1, 5), t1(2, 1)}, []trace.Symbol{t1(0, 1), t1(1, 1)}))
	assert.NotEqual(t, want, root([]trace.Symbol{t1(2, 1), trace.RuleSymbol(1, 4)}, []trace.Symbol{t1(0, 1), t1(1, 1)}))

	// 2^40 of a symbol costs nothing
	assert.Equal(t, root([]trace.Symbol{t1(3, 1<<40)}), root([]trace.Symbol{trace.RuleSymbol(1, 1<<20)}, []trace.Symbol{t1(3, 1<<20)}))
}
