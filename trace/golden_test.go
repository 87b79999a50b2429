package trace

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The golden file of each format version stays readable, and says the same for ever.
func TestGoldenFile(t *testing.T) {
	const file, text = "testdata/stencil.v0.cairn", "testdata/stencil.v0.jsonl"
	c := stencil(4, 12, true)
	if *update {
		require.NoError(t, os.WriteFile(file, written(t, c), 0o644))
		require.NoError(t, os.WriteFile(text, []byte(jsonLines(t, opened(t, written(t, c)))), 0o644))
	}
	golden, err := os.ReadFile(file)
	require.NoError(t, err)
	want, err := os.ReadFile(text)
	require.NoError(t, err)
	r := opened(t, golden)
	require.Equal(t, string(want), jsonLines(t, r))
	got, err := r.Content()
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(c, got, cmpopts.EquateEmpty()))
	require.True(t, bytes.Equal(golden, written(t, c)),
		"the bytes have changed: if only the compressor has, go test ./trace -run Golden -update")
}

func jsonLines(t testing.TB, r *Reader) string {
	var b strings.Builder
	for _, thread := range r.Threads() {
		cursor, err := r.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			b.Write(append(cursor.Event().AppendJSON(nil), '\n'))
		}
		require.NoError(t, cursor.Err())
	}
	return b.String()
}

// A reader in another language, written from docs/format.md, says the same.
func TestSecondReader(t *testing.T) {
	for _, program := range []string{"python3", "zstd"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal(err, "(hack/install.sh base installs python3 and zstd)")
		}
	}
	got, err := exec.Command("python3", "testdata/reader.py", "testdata/stencil.v0.cairn").CombinedOutput()
	require.NoError(t, err, "%s", got)
	want, err := os.ReadFile("testdata/stencil.v0.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
