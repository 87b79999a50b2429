package report_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRenamedKeys: docs/renamed-keys.md is right about report.json.
func TestRenamedKeys(t *testing.T) {
	page, err := os.ReadFile("../../docs/renamed-keys.md")
	require.NoError(t, err)
	schema, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| report\\.json \\| [^|]* \\| `([^`]*)` \\| `([^`]*)` \\|$").FindAllSubmatch(page, -1)
	require.NotEmpty(t, rows)
	key := func(path []byte) string {
		parts := strings.Split(string(path), ".")
		return `"` + parts[len(parts)-1] + `": {`
	}
	for _, row := range rows {
		assert.Contains(t, string(schema), key(row[2]))
		assert.NotContains(t, string(schema), key(row[1]))
	}
}
