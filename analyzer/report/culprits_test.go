package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCulpritsComeFirst in the table of ranks, several of them in the order in which one should look at them.
func TestCulpritsComeFirst(t *testing.T) {
	rep := assemble(t, stencil(12, 50, 9, 2))
	rep.Verdict.Rank, rep.Verdict.Ranks = new(9), "4,9"
	page, err := rep.HTML()
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), `<section id="ranks"`)
	var listed []string
	for _, found := range regexp.MustCompile(`class="rank">(\d+)<`).FindAllStringSubmatch(section, -1) {
		listed = append(listed, found[1])
	}
	assert.Equal(t, []string{"9", "4", "0", "1", "2", "3", "5", "6", "7", "8", "10", "11"}, listed)
}

// TestDetailIsBounded: of many ranks, and of iterations with many calls.
func TestDetailIsBounded(t *testing.T) {
	rep := assemble(t, stencil(1024, 20, 700, 1.5))
	require.NotNil(t, rep.Detail)
	assert.Equal(t, 700, rep.Detail.Ranks[0])
	assert.Len(t, rep.Detail.Ranks, 16)
	assert.Subset(t, rep.Detail.Ranks, []int{699, 701}, "its neighbors wait for it")
	assert.LessOrEqual(t, len(rep.Detail.Calls), 2000)
	assert.NotEmpty(t, rep.Detail.Messages)
	assert.NotEmpty(t, rep.Detail.Waits)
	assert.Len(t, rep.RankActivities, 64)
}
