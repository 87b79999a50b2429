package report_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	calls "github.com/cairn-mpi/cairn/analyzer/analyses/profile"
	"github.com/cairn-mpi/cairn/analyzer/analyses/ranks"
	"github.com/cairn-mpi/cairn/analyzer/report/section"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer"
	"github.com/cairn-mpi/cairn/analyzer/analyses/cpus"
	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/report"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// stencil is a run on two nodes with noise of ±10 % per iteration, in which slow computes
// factor times as long.
func stencil(ranks, iterations, slow int, factor float64) *tracetest.Builder {
	random := rand.New(rand.NewPCG(7, 7))
	return tracetest.Stencil{Ranks: ranks, Iterations: iterations, Reduce: 10, PerNode: max(1, ranks/2), Work: func(rank, _ int) float64 {
		w := 5 * (0.9 + 0.2*random.Float64())
		if rank == slow {
			w *= factor
		}
		return w
	}}.Build()
}

func assemble(t testing.TB, b *tracetest.Builder) *report.Report {
	t.Helper()
	r := b.Open(t)
	findings, _, err := analyzer.Run(context.Background(), r, nil)
	require.NoError(t, err)
	rep := analyzer.Report(r, findings, report.Job{Name: "default/stencil"})
	return rep
}

// keep leaves the report's files in $CAIRN_REPORT_DIR/<name>, to be looked at.
func keep(t *testing.T, name string, files map[string][]byte) {
	t.Helper()
	dir := os.Getenv("CAIRN_REPORT_DIR")
	if dir == "" {
		return
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	for file, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, file), content, 0o644))
	}
}

func TestSlowRankIsNamed(t *testing.T) {
	rep := assemble(t, stencil(8, 200, 5, 2.1))
	require.NotNil(t, rep.Verdict().Rank, rep.Verdict().Text)
	assert.Equal(t, 5, *rep.Verdict().Rank)
	assert.Equal(t, "stencil-worker-1", rep.Verdict().Causes[0].Pod)
	assert.Equal(t, "node2", rep.Verdict().Causes[0].Node)
	assert.Contains(t, rep.Verdict().Text, "Rank 5 (pod stencil-worker-1, node node2) makes this job slow: it computes for ")
	files, err := rep.Files()
	require.NoError(t, err)
	keep(t, "slow", files)
	page := string(files["index.html"])
	assert.NotContains(t, page, "http://", "the page loads nothing")
	assert.NotContains(t, page, "https://")
	assert.Less(t, strings.Index(page, "makes this job slow"), strings.Index(page, "What to do next"))
}

func TestImagesOfPods(t *testing.T) {
	r := stencil(8, 20, 5, 2.1).Open(t)
	findings, _, err := analyzer.Run(context.Background(), r, nil)
	require.NoError(t, err)
	rep := analyzer.Report(r, findings, report.Job{Images: map[string]string{"stencil-worker-1": "registry/stencil:2"}})
	require.Len(t, rep.Provenance.Pods, 2)
	assert.Empty(t, rep.Provenance.Pods[0].Image)
	assert.Equal(t, "registry/stencil:2", rep.Provenance.Pods[1].Image)
	page, err := rep.HTML()
	require.NoError(t, err)
	assert.Contains(t, string(page), "<td>registry/stencil:2</td>")
}

func TestBalancedJobNamesNobody(t *testing.T) {
	rep := assemble(t, stencil(8, 200, -1, 1))
	assert.Nil(t, rep.Verdict().Rank, rep.Verdict().Text)
	assert.Contains(t, rep.Verdict().Text, "No rank stands out: ")
	files, err := rep.Files()
	require.NoError(t, err)
	keep(t, "balanced", files)
}

// TestSizeAtScale: 1,024 ranks fit into 3 MiB.
func TestSizeAtScale(t *testing.T) {
	rep := assemble(t, stencil(1024, 20, 700, 1.5))
	require.NotNil(t, rep.Verdict().Rank, rep.Verdict().Text)
	assert.Equal(t, 700, *rep.Verdict().Rank)
	files, err := rep.Files()
	require.NoError(t, err)
	keep(t, "large", files)
	assert.Less(t, len(files["index.html"]), 3<<20)
	// a full matrix in which no two neighbors are alike is the longest there is; with a ledger and
	// what ranks had of the CPUs
	random := rand.New(rand.NewPCG(1, 1))
	p := report.Of[calls.Findings](rep).Profile
	p.Matrix = profile.Matrix{Ranks: 1024, Tile: 4}
	for i := range 256 * 256 {
		p.Matrix.Cells = append(p.Matrix.Cells, profile.Tile{From: i / 256, To: i % 256, Calls: random.Uint64N(1e6), Bytes: random.Uint64N(1e9)})
	}
	f := section.Find[cpus.Findings](&rep.Run)
	for _, rank := range report.Of[ranks.Findings](rep).Ranks {
		f.RankCPUs = append(f.RankCPUs, cpus.RankCPU{Rank: rank.Rank, Share: 0.98765, RunDelay: new(0.01234), StoppedSeconds: new(0.12345), Preemptions: 1234})
	}
	full, err := withLedger(rep).HTML()
	require.NoError(t, err)
	assert.Less(t, len(full), 3<<20)
	t.Logf("index.html %d bytes (with a full matrix %d), report.json %d bytes", len(files["index.html"]), len(full), len(files["report.json"]))
}

// What was not analyzed is left out: neither the JSON nor the page has zeros for it.
func TestNothingIsMadeUp(t *testing.T) {
	b := stencil(4, 10, 1, 2)
	r := b.Open(t)
	rep := analyzer.Report(r, nil, report.Job{Asked: []string{}})
	files, err := rep.Files()
	require.NoError(t, err)
	var keys map[string]any
	require.NoError(t, json.Unmarshal(files["report.json"], &keys))
	for _, key := range []string{"run_seconds", "run_start_ns", "clock", "timing"} {
		assert.NotContains(t, keys, key)
	}
	assert.NotNil(t, keys["notes"], "a list, if an empty one")
	first := keys["ranks"].([]any)[0].(map[string]any)
	assert.Positive(t, first["computation_seconds"], "the trace has it")
	assert.NotContains(t, first, "initialization_seconds")
	page := string(files["index.html"])
	assert.NotContains(t, page, " 0 s ")
	for _, empty := range []string{`id="computation"`, `id="calls"`, `id="clusters"`} {
		assert.NotContains(t, page, empty)
	}
}
