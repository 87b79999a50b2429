package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Everybody who may enter the directory can read a trace or a report in it, whoever wrote it.
func TestFilesAreReadableByAll(t *testing.T) {
	dir := t.TempDir()
	put(t, newDirectory(dir), "job/report.html", []byte("<p>"))
	info, err := os.Stat(filepath.Join(dir, "job", "report.html"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
}
