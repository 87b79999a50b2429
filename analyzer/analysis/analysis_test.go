package analysis_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analysis"
	"github.com/cairn-mpi/cairn/analyzer/pass"
)

type findings struct {
	Ranks []int `json:"ranks"`
}

var ranks = analysis.New("ranks", analysis.About{Version: 2}, func(context.Context, *pass.Run) (findings, error) {
	return findings{Ranks: []int{3}}, nil
})

// Another pass may require an analysis, and shares its result.
var lowest = pass.New("lowest", func(ctx context.Context, r *pass.Run) (int, error) {
	f, err := ranks.Of(ctx, r)
	if err != nil {
		return 0, err
	}
	return f.Ranks[0], nil
}, ranks)

func TestFindings(t *testing.T) {
	r := pass.Begin(t.Context(), nil, ranks, lowest)
	raw, err := ranks.Run(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, `{"schema_version":2,"ranks":[3]}`, string(raw))
	n, err := lowest.Of(t.Context(), r)
	require.NoError(t, err)
	assert.Equal(t, 3, n)
	found, err := ranks.Decode(raw)
	require.NoError(t, err)
	assert.Equal(t, &findings{Ranks: []int{3}}, found)
}

func TestEmptyFindings(t *testing.T) {
	empty := analysis.New("empty", analysis.About{Version: 1}, func(context.Context, *pass.Run) (struct{}, error) {
		return struct{}{}, nil
	})
	raw, err := empty.Run(t.Context(), pass.Begin(t.Context(), nil, empty))
	require.NoError(t, err)
	assert.Equal(t, `{"schema_version":1}`, string(raw))
}

func TestUnreadable(t *testing.T) {
	for raw, message := range map[string]string{
		`{"schema_version":1}`:              "findings of ranks have version 1, this cairn reads 2",
		`{"schema_version":2,"ranks":true}`: "findings of ranks: json:",
		`[`:                                 "findings of ranks: unexpected end",
	} {
		_, err := ranks.Decode([]byte(raw))
		assert.ErrorContains(t, err, message)
	}
}
