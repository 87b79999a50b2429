package export

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An export with a name that ends in .gz is compressed, with the same content. The printed size is
// the file's.
func TestExportIsCompressed(t *testing.T) {
	dir := t.TempDir()
	file, plain, packed := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "x.perfetto"), filepath.Join(dir, "x.perfetto.gz")
	_, err := execute(t, "simulate", "--ranks", "4", "-o", file)
	require.NoError(t, err)
	for _, out := range []string{plain, packed} {
		said, err := execute(t, "export", file, "-o", out)
		require.NoError(t, err)
		info, err := os.Stat(out)
		require.NoError(t, err)
		assert.Contains(t, said, fmt.Sprintf(", %d bytes; ", info.Size()))
	}
	want, err := os.ReadFile(plain)
	require.NoError(t, err)
	compressed, err := os.ReadFile(packed)
	require.NoError(t, err)
	assert.Less(t, 3*len(compressed), len(want))
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	require.NoError(t, err)
	have, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, have))
}

// Tables are a directory of files. A part of the run without calls is reported.
func TestExportTables(t *testing.T) {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "trace.cairn"), filepath.Join(dir, "tables")
	_, err := execute(t, "simulate", "--ranks", "4", "-o", file)
	require.NoError(t, err)
	said, err := execute(t, "export", file, "--format", "parquet", "-o", out)
	require.NoError(t, err)
	assert.Contains(t, said, "path segments")
	files, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	assert.Len(t, files, 8)
	for _, name := range files {
		assert.Equal(t, ".parquet", filepath.Ext(name))
	}
	_, err = execute(t, "export", file, "--format", "parquet", "-o", out, "--from", "3600")
	require.ErrorContains(t, err, "made no call")
}
