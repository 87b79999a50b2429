package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses/detail"
	"github.com/cairn-mpi/cairn/analyzer/analyses/verdict"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/analyzer/report/section"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCulpritsComeFirst in the table of ranks, several of them in the order in which one
// should look at them.
func TestCulpritsComeFirst(t *testing.T) {
	rep := assemble(t, stencil(12, 50, 9, 2))
	v := section.Find[verdict.Findings](&rep.Run)
	v.Verdict.Rank, v.Verdict.Ranks = new(9), "4,9"
	raw, err := rep.JSON()
	require.NoError(t, err)
	rep, err = analyzer.ReadReport(raw)
	require.NoError(t, err)
	page, err := rep.HTML()
	require.NoError(t, err)
	_, part, _ := strings.Cut(string(page), `<section id="ranks"`)
	var listed []string
	for _, found := range regexp.MustCompile(`class="rank">(\d+)<`).FindAllStringSubmatch(part, -1) {
		listed = append(listed, found[1])
	}
	assert.Equal(t, []string{"9", "4", "0", "1", "2", "3", "5", "6", "7", "8", "10", "11"}, listed)
}

// TestDetailIsBounded: of many ranks, and of iterations with many calls.
func TestDetailIsBounded(t *testing.T) {
	rep := assemble(t, stencil(1024, 20, 700, 1.5))
	f := report.Of[detail.Findings](rep)
	require.NotNil(t, f.Detail)
	assert.Equal(t, 700, f.Detail.Ranks[0])
	assert.Len(t, f.Detail.Ranks, 16)
	assert.Subset(t, f.Detail.Ranks, []int{699, 701}, "its neighbors wait for it")
	assert.LessOrEqual(t, len(f.Detail.Calls), 2000)
	assert.NotEmpty(t, f.Detail.Messages)
	assert.NotEmpty(t, f.Detail.Waits)
	assert.Len(t, f.RankActivities, 64)
}
