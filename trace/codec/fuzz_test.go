package codec

import (
	"testing"

	"github.com/cairn-mpi/cairn/trace/grammar"
	"github.com/cairn-mpi/cairn/trace/internal/limits"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

func FuzzIndex(f *testing.F) {
	const begin, memory = 8, 4 << 20
	var x Index
	end := int64(begin)
	for i := range int64(40) {
		e := Entry{Kind: Kind(i % 7), Offset: end, Size: 100 + i*i%50, Key: i / 3, Part: i % 3}
		x.Add(e)
		end += e.Size
	}
	f.Add(x.Append(nil), end)
	f.Fuzz(func(t *testing.T, b []byte, end int64) {
		limits.Within(t, memory, func() { _, _ = DecodeIndex(b, begin, end, NewBudget(memory)) })
	})
}

func FuzzDecodeGrammar(f *testing.F) {
	f.Add(AppendGrammar(nil, grammar.Grammar{}))
	s := grammar.NewSequitur()
	for i := range int32(1000) {
		s.Append(i % (3 + i/100))
	}
	f.Add(AppendGrammar(nil, s.Grammar()))
	f.Fuzz(func(t *testing.T, b []byte) {
		var g grammar.Grammar
		var err error
		limits.Within(t, 128*uint64(len(b)), func() { g, _, err = DecodeGrammar(b) })
		if err != nil {
			return
		}
		require.NoError(t, g.Validate())
		again, _, err := DecodeGrammar(AppendGrammar(nil, g))
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(g, again, cmpopts.EquateEmpty()))
		if len(g.Rules) == 0 {
			return
		}
		lengths, err := g.Lengths()
		require.NoError(t, err)
		if s, err := grammar.Resume(g); err == nil && lengths[0] < 10_000 {
			require.Equal(t, g.Expand(0), s.Grammar().Expand(0))
		}
	})
}

func FuzzDecodeSequence(f *testing.F) {
	f.Add(AppendSequence(nil, nil))
	f.Add(AppendSequence(nil, []int64{1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, -1, 1 << 62, -1 << 63, 5, 5, 5}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var values []int64
		var err error
		limits.Within(t, sequenceMemory, func() { values, _, err = decodeSequence(b, 100_000) })
		if err != nil {
			return
		}
		again, rest, err := decodeSequence(AppendSequence(nil, values), len(values))
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Empty(t, cmp.Diff(values, again, cmpopts.EquateEmpty()))
	})
}
