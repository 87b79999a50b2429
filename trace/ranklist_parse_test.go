package trace

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRankList(t *testing.T) {
	for _, ranks := range [][]int{{}, {5}, {0, 1, 2, 3}, {0, 1, 2, 8, 10, 12, 14, 31}} {
		list, err := ParseRankList(NewRankList(ranks).String())
		require.NoError(t, err)
		assert.Equal(t, ranks, list.Ranks())
	}
	for _, text := range []string{"x", "3-1", "1-", "-1", "0-8:0", "1,,2"} {
		_, err := ParseRankList(text)
		assert.ErrorContains(t, err, text, "what is wrong is said")
	}
}
