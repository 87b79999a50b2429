package trace_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/reduce"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/trace"
)

// The golden files, each for the features that the others lack. They never change (see
// TestGoldenFilesNeverChange; go test ./trace -run Golden -update writes new ones). Their content
// is compared between both readers.
var goldenFeatures = []struct {
	name    string
	shard   bool
	reduced bool
	of      simulate.Config
}{
	// ranks of one shape, elastic values (Cartesian, modulo, stride), communicators made on the
	// way; lossy timing with one function's error apart
	{name: "elastic", of: simulate.Config{Pattern: "stencil2d", Ranks: 9, Iterations: 2, Points: 9, Periodic: true, Cartesian: true,
		Timing: "lossy 5 MPI_Waitall=20", Imbalance: simulate.Imbalance{Noise: 40}}},
	// wildcards: statuses and request lists in value streams; aggregated timing
	{name: "streams", of: simulate.Config{Pattern: "master-worker", Ranks: 4, Iterations: 12, Timing: "aggregated"}},
	// parameters that vary from call to call; trip counts; ticks of a clock that is
	// not in nanoseconds
	{name: "varying", of: simulate.Config{Pattern: "irregular", Ranks: 4, Iterations: 14, Timing: "lossy 1", CallSites: "none"}},
	// a shard of some ranks: blocks packed with zstd, columns, values that only a shard has
	{name: "shard", shard: true, of: simulate.Config{Pattern: "ring", Ranks: 5, Iterations: 3}},
	// intervals off the grid, which end in exact moments
	{name: "rounded", of: simulate.Config{Pattern: "ring", Ranks: 3, Iterations: 4, Timing: "lossy 5", Compute: 40 * time.Millisecond,
		Imbalance: simulate.Imbalance{Noise: 40}}},
	// lead ranks only; the others' calls are theirs with peers transposed
	{name: "leads", reduced: true, of: simulate.Config{Pattern: "irregular", Ranks: 12, Iterations: 2, Timing: "lossy 5", CallSites: "none"}},
}

func goldenPath(name, ext string) string { return "testdata/" + name + ".v3." + ext }

// The golden file of each feature stays readable, with the same content (see TestSecondReader).
func TestGoldenFeatures(t *testing.T) {
	for _, g := range goldenFeatures {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			if *trace.UpdateGolden {
				sim, err := simulate.New(g.of)
				require.NoError(t, err)
				contents, err := sim.Contents()
				require.NoError(t, err)
				merged, err := merger.Merge(contents, merger.Options{Final: !g.shard})
				require.NoError(t, err)
				if g.reduced {
					require.NoError(t, reduce.Leads(merged, nil, make([]int, merged.Threads.Len()), func(rank int) int { return rank % 4 }))
				}
				b := bytesOf(t, merged)
				trace.WriteGolden(t, goldenPath(g.name, "cairn"), b)
				trace.WriteGolden(t, goldenPath(g.name, "jsonl"), jsonOf(t, open(t, b)))
			}
			b, err := os.ReadFile(goldenPath(g.name, "cairn"))
			require.NoError(t, err)
			want, err := os.ReadFile(goldenPath(g.name, "jsonl"))
			require.NoError(t, err)
			require.Equal(t, string(want), string(jsonOf(t, open(t, b))))
		})
	}
}

// The golden files have the features that they are for.
func TestGoldenFilesHaveTheirFeatures(t *testing.T) {
	all := map[string]bool{}
	// see TestGoldenFile
	names := []string{"stencil", "lists", "clustered", "pointers", "forms", "readings", "near"}
	for _, g := range goldenFeatures {
		names = append(names, g.name)
	}
	for _, name := range names {
		b, err := os.ReadFile(goldenPath(name, "cairn"))
		require.NoError(t, err)
		for feature := range trace.FeaturesOf(t, b) {
			all[feature] = true
		}
	}
	for _, feature := range []string{
		"codec 0", "codec 1", "codec 2", "block 3", "block 8", "block 12", "block 13", "block 14", "block 15", "block 16", "block 17",
		"block 18", "block 19", "block 20", "call path", "shared shape", "readings 0", "readings 1", "readings 2", "timing lossless", "timing lossy", "timing aggregated",
		"form 0", "form 1", "form 2", "form 3", "form 4", "form 5", "form 6", "form 7", "form 8", "form 9", "form 10", "form 11",
		"form 12", "form 13", "form 14", "form 15", "operator 1", "operator 2", "operator 3", "operator 4", "operator 5", "operator 6",
	} {
		if !all[feature] {
			t.Errorf("no golden file has %s", feature)
		}
	}
}

func jsonOf(t testing.TB, r *trace.Reader) []byte {
	var b bytes.Buffer
	for _, thread := range r.Threads().All() {
		cursor, err := r.Cursor(thread.Rank, thread.Thread)
		require.NoError(t, err)
		for cursor.Next() {
			b.Write(append(cursor.Event().AppendJSON(nil), '\n'))
		}
		require.NoError(t, cursor.Err())
	}
	return b.Bytes()
}
