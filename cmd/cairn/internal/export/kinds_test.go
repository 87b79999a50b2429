package export

import (
	"os"
	"path/filepath"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The export of each kind of trace, or why it is refused. The texts are part of the output.
var exportsOfKinds = []struct {
	kind    string
	more    []string // arguments of export
	said    map[string]string
	refused map[string]string
}{
	{kind: "lossless", said: allFormats("")},
	{kind: "lossy", said: allFormats("")},
	{kind: "lossless", more: []string{"--leads"}, said: but(allFormats(""), "simgrid"),
		refused: map[string]string{"simgrid": "without --from, --to, --ranks and --leads"}},
	{kind: "lossless", more: []string{"--redact"}, said: allFormats("")},
	{kind: "aggregated", said: map[string]string{"parquet": "times of calls are null"},
		refused: but(allFormats("trace with timing lossless or lossy"), "parquet")},
	{kind: "clustered", said: map[string]string{
		"perfetto": "times of 39 of 208 calls are extrapolated from lead ranks", "parquet": "times of 39 of 208 calls are extrapolated from lead ranks",
		"simgrid": "times of 39 of 208 calls are extrapolated from lead ranks", "otf2": "39 calls have the times of lead ranks",
	}},
	{kind: "clustered", more: []string{"--redact"}, said: allFormats("lead ranks")},
	{kind: "reduced to leads", said: map[string]string{
		"perfetto": "calls and times of 9 of 16 ranks are extrapolated from 7 lead ranks", "parquet": "calls and times of 9 of 16 ranks are extrapolated from 7 lead ranks",
		"simgrid": "calls and times of 9 of 16 ranks are extrapolated from 7 lead ranks", "otf2": "only the lead ranks (0, 1, 4, 5, 7, 12, 13), which have times of their own",
	}},
	{kind: "reduced to leads", more: []string{"--leads"}, said: but(allFormats(""), "simgrid"),
		refused: map[string]string{"simgrid": "without --from, --to, --ranks and --leads"}},
	{kind: "reduced to leads", more: []string{"--redact"}, refused: allFormats("use the one that it was made from")},
	{kind: "reduced to histograms", refused: allFormats("use the trace that it was made from")},
}

func allFormats(words string) map[string]string {
	formats := map[string]string{}
	for _, e := range exporters {
		formats[e.format] = words
	}
	return formats
}

func but(formats map[string]string, one string) map[string]string {
	delete(formats, one)
	return formats
}

// Each format accepts each kind of trace, or says what to do instead and leaves no files.
func TestFormatsOfAllKindsOfTraces(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no cairn-otf2: tests with OTF2's library are tagged otf2
	files := kindsOfTraces(t)
	for _, test := range exportsOfKinds {
		for _, e := range exporters {
			said, exported := test.said[e.format]
			refused, not := test.refused[e.format]
			require.NotEqual(t, exported, not, "%s, %v as %s", test.kind, test.more, e.format)
			if e.elsewhere != nil {
				exported, refused = false, "make bin/cairn-otf2"
			}
			out := filepath.Join(t.TempDir(), "out")
			printed, err := execute(t, append([]string{"export", files[test.kind], "--format", e.format, "-o", out}, test.more...)...)
			what := test.kind + " as " + e.format
			if !exported {
				assert.ErrorContains(t, err, refused, what)
				assert.NoFileExists(t, out, what)
				assert.NoDirExists(t, out, what)
				continue
			}
			if assert.NoError(t, err, what) {
				assert.Contains(t, printed, said, what)
				checkExported(t, e.format, out, test.kind, test.more)
			}
		}
	}
}

// kindsOfTraces makes a trace of each kind, and gives their files.
func kindsOfTraces(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"clustered": "../../../../trace/testdata/clustered.v3.cairn"}
	run := func(kind string, arguments ...string) {
		files[kind] = filepath.Join(dir, kind)
		_, err := execute(t, append(arguments, "-o", files[kind])...)
		require.NoError(t, err)
	}
	for kind, timing := range map[string]string{"lossless": "lossless", "lossy": "lossy 5", "aggregated": "aggregated"} {
		run(kind, "simulate", "--pattern", "stencil2d", "--ranks", "16", "--timing", timing)
	}
	run("reduced to leads", "reduce", files["lossless"], "--leads")
	run("reduced to histograms", "reduce", files["lossless"], "--histogram")
	return files
}

// checkExported checks that all files of a format exist, with as many calls or ranks as the trace
// has.
func checkExported(t *testing.T, format, out, kind string, more []string) {
	t.Helper()
	calls, ranks := int64(1168), 16
	if kind == "clustered" {
		calls, ranks = 208, 4
	}
	if len(more) > 0 && more[0] == "--leads" {
		calls, ranks = 491, 7
	}
	switch format {
	case "perfetto":
		content, err := os.ReadFile(out)
		require.NoError(t, err)
		assert.Greater(t, len(content), 20*int(calls), kind)
	case "otf2":
		assert.FileExists(t, filepath.Join(out, anchor))
	case "simgrid":
		actions, err := filepath.Glob(filepath.Join(out, "*.ti"))
		require.NoError(t, err)
		assert.Len(t, actions, ranks, kind)
	case "parquet":
		file, err := os.Open(filepath.Join(out, "calls.parquet"))
		require.NoError(t, err)
		defer file.Close()
		about, err := file.Stat()
		require.NoError(t, err)
		table, err := pq.OpenFile(file, about.Size())
		require.NoError(t, err)
		assert.Equal(t, calls, table.NumRows(), kind)
	default:
		t.Fatalf("what does an export as %s consist of?", format)
	}
}
