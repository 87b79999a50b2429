package causes

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// docs/verdict.md has the least gain of each cause.
func TestLeastGainsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/verdict.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| cause must gain |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, l := range leastGain {
		name := "`" + string(l.kind) + "`"
		switch l.form {
		case verdict.NoForm:
		case verdict.Master:
			name += " of a `master`"
		default:
			name = "`" + string(l.form) + "`"
		}
		row := fmt.Sprintf(`(?m)^\|.*%s.*\| %.0f %% \|$`, regexp.QuoteMeta(name), 100*l.gain)
		assert.Regexp(t, row, table)
	}
}

// Package verdict has words for each cause.
func TestCausesHaveWords(t *testing.T) {
	for _, l := range leastGain {
		c := verdict.Cause{Kind: l.kind, Form: l.form}
		assert.NotEmpty(t, c.Short(), l.kind)
	}
}
