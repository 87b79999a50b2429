package messages_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/api/messages"
)

// fixture is a message as a release wrote it.
func fixture[T any](t *testing.T, name string) (message T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	require.True(t, messages.Decode(string(raw), &message))
	return message
}

// An operator reads the messages of images that were pinned by an earlier release.
func TestMessagesOfEarlierReleases(t *testing.T) {
	require.Equal(t, messages.Probe{Traceable: true, ABI: []string{"openmpi"}, MPI: "Open MPI 4.1.4", Libc: "glibc 2.36", Architecture: "amd64"},
		fixture[messages.Probe](t, "0.1.0/probe.json"))
	require.Equal(t, messages.StorageCheck{Reason: messages.StorageAccessDenied, Message: "cannot write s3://traces/x: 403"},
		fixture[messages.StorageCheck](t, "0.1.0/check-storage.json"))
	require.Equal(t, messages.Merge{
		Runs: []messages.Run{{ID: "0/0", Ranks: 4, MissingRanks: "2-3", EndedEarly: "1", Calls: 1234, TraceBytes: 2345,
			ParallelEfficiencyPercent: new(87), TraceURI: "s3://traces/t"}},
		RunCount: 1, Levels: []int{64, 1}, Lost: "worker-1: world ab, rank 2", Message: "late",
	}, fixture[messages.Merge](t, "0.1.0/merge.json"))
	require.Equal(t, messages.Report{
		Runs: []messages.Run{
			{ID: "0/0", ReportURI: "s3://traces/r", ParallelEfficiencyPercent: new(88), Clusters: 9, Topology: "2 x 2 grid"},
			{ID: "0/1", ReportURI: "s3://traces/q"},
		}, RunCount: 2, Verdict: "Rank 3 is slow",
	}, fixture[messages.Report](t, "0.1.0/report.json"))
	start := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	require.Equal(t, []messages.Attempt{
		{PodUID: "u", RestartCount: 1, StartedAt: start, FinishedAt: start.Add(5 * time.Second)},
		{Attempt: 1, PodUID: "u", RestartCount: 2, StartedAt: start.Add(6 * time.Second)},
	}, fixture[[]messages.Attempt](t, "0.1.0/attempts.json"))
}

// Both sides import the package, so it may know neither.
func TestImportsNothingOfEitherSide(t *testing.T) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range parsed.Imports {
			require.NotContains(t, i.Path.Value, ".", "%s: only the standard library", file)
		}
	}
}

// text returns a text with many bytes, some of which take six bytes in JSON.
func text(r *rand.Rand) string {
	alphabet := []rune("abc <\x01é")
	var b strings.Builder
	for range r.IntN(3000) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func randomRuns(r *rand.Rand) []messages.Run {
	runs := make([]messages.Run, r.IntN(300))
	for i := range runs {
		runs[i] = messages.Run{ID: messages.RunID(0, i), Run: i, Ranks: r.IntN(1 << 20), Calls: r.Uint64(), TraceBytes: r.Int64(),
			TraceURI: "s3://bucket/" + strings.Repeat("p", r.IntN(300)), ReportURI: text(r)}
		switch r.IntN(4) {
		case 0:
			runs[i].MissingRanks = text(r)
		case 1:
			runs[i].Failed, runs[i].Topology = text(r), text(r)
		case 2:
			runs[i].ParallelEfficiencyPercent = new(r.IntN(101))
		}
	}
	return runs
}

// Kubernetes keeps every message completely, whatever its texts are.
func TestEveryMessageFits(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		trouble := &messages.StorageTrouble{Reason: messages.StorageUnreachable, Message: text(r)}
		runs := randomRuns(r)
		lost := []string{}
		for range r.IntN(40) {
			lost = append(lost, text(r))
		}
		merge := messages.Merge{Runs: runs, Lost: text(r), Message: text(r), Storage: trouble}.Fit()
		for _, message := range []any{
			merge,
			messages.Report{Runs: runs, Verdict: text(r), Message: text(r), Storage: trouble}.Fit(),
			messages.Analysis{Failed: text(r), Message: text(r), Storage: trouble}.Fit(),
			messages.Ship{Lost: lost, Message: text(r), Storage: trouble}.Fit(),
			messages.Probe{MPI: text(r), Libc: text(r), Message: text(r)}.Fit(),
			messages.StorageCheck{Message: text(r)}.Fit(),
		} {
			_, err := messages.Encode(message)
			require.NoError(t, err, "seed %d: %T", seed, message)
		}
		require.Equal(t, len(runs), merge.RunCount)
	}
}

// The kubelet keeps 12 KiB of all messages of a pod, of each container an equal part. The job's
// pods have three containers of ours besides the user's.
func TestMessagesOfTheJobsPodsAreNotCut(t *testing.T) {
	var lost []string
	for rank := range 1000 {
		lost = append(lost, fmt.Sprintf("world 0123456789ab, rank %d: %s", rank, strings.Repeat("dial tcp: no route to host ", 30)))
	}
	trouble := &messages.StorageTrouble{Reason: messages.StorageUnreachable, Message: strings.Repeat("dial tcp ", 100)}
	ship := messages.Ship{Lost: lost, Storage: trouble, Message: strings.Repeat("--grace is not understood ", 40)}.Fit()
	probe := messages.Probe{ABI: []string{"openmpi"}, MPI: strings.Repeat("Open MPI 4.1.4, ", 50), Message: strings.Repeat("x", 2000)}.Fit()
	for containers := 4; containers <= 12; containers++ {
		for _, message := range []any{ship, probe} {
			raw, err := messages.Encode(message)
			require.NoError(t, err)
			var read map[string]any
			require.True(t, messages.Decode(string(raw[:min(len(raw), 12<<10/containers)]), &read), "%T of %d bytes, %d containers", message, len(raw), containers)
		}
	}
	require.NotEmpty(t, ship.Lost)
	require.Equal(t, 1000, ship.LostCount)
	require.NotEmpty(t, ship.Storage.Message)
	for _, message := range []any{messages.Ship{Message: strings.Repeat("x", messages.MaxSharedBytes)}, messages.Probe{Message: strings.Repeat("x", messages.MaxSharedBytes)}} {
		_, err := messages.Encode(message)
		require.Error(t, err)
	}
}

// Sixteen runs with nothing odd about them fit with everything.
func TestSixteenRunsAreListed(t *testing.T) {
	var runs []messages.Run
	for i := range 200 {
		runs = append(runs, messages.Run{ID: messages.RunID(0, i), Run: i, Ranks: 4096, Calls: 123456789, TraceBytes: 1234567,
			ParallelEfficiencyPercent: new(80), TraceURI: fmt.Sprintf("s3://traces/team/stencil/0f8fad5b-d9cb-469f-a165-70867728950e/0/%d/trace.cairn", i),
			Clusters: 9, Topology: "64 x 64 torus"})
	}
	runs[7].ParallelEfficiencyPercent, runs[9].MissingRanks, runs[100].CallsLost = new(20), "3", 5
	m := messages.Merge{Runs: runs}.Fit()
	require.Len(t, m.Runs, messages.MaxRuns)
	require.Equal(t, 200, m.RunCount)
	var ids []string
	for _, run := range m.Runs {
		ids = append(ids, run.ID)
	}
	require.Subset(t, ids, []string{"0/7", "0/9", "0/100"}, "the worst ones")
	r := messages.Report{Runs: runs, Verdict: strings.Repeat("v", 600)}.Fit()
	require.Len(t, r.Runs, messages.MaxRuns)
}
