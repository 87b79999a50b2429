package localrun

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/untraced"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// The output of cairn run begins with the calls that were not recorded. It does not claim that
// ranks ended early if only their tracing stopped.
func TestRunReportsLostCalls(t *testing.T) {
	sim, err := simulate.New(simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 10, Bytes: 64, RanksPerNode: 4})
	require.NoError(t, err)
	shard, err := shards.Pod(sim, 0)
	require.NoError(t, err)
	for i := range 2 {
		shard.Ranks.Change(i, func(r *trace.Rank) {
			r.Dropped, r.EndedEarly = 1_000_000, trace.TracingStopped+"MPI_Send: the spool limit of 16777216 bytes is reached"
		})
	}
	content, err := merger.Merge([]*trace.Content{shard}, merger.Options{Final: true})
	require.NoError(t, err)
	summary := merger.Summarize(content)
	require.EqualValues(t, 2_000_000, summary.CallsLost)
	require.Equal(t, "ranks 0-1: the spool limit of 16777216 bytes was reached", summary.LostWhy)

	dir := t.TempDir()
	stdout, stderr := concluded(t, dir, content)
	require.Regexp(t, `^\n(more than )?\d+% of the calls \([\d,]+ of [\d,]+\) were not recorded, because the spool limit of 16777216 bytes was reached \(ranks 0-1\); what follows is about the rest\. `,
		strings.ReplaceAll(stdout, "More", "more"))
	require.Contains(t, stderr, "2000000 calls were not recorded (ranks 0-1: the spool limit of 16777216 bytes was reached)")
	require.NotContains(t, stdout, "without MPI_Finalize")

	var printed bytes.Buffer
	info := inspect.NewInfoCommand()
	info.SetOut(&printed)
	info.SetArgs([]string{filepath.Join(dir, shipper.TraceFile)})
	require.NoError(t, info.ExecuteContext(t.Context()))
	require.Contains(t, printed.String(), "2000000 of rank 0-1: the spool limit of 16777216 bytes was reached")
	require.NotContains(t, printed.String(), "ended early")
}

// concluded returns what is printed about a run whose trace is in dir.
func concluded(t *testing.T, dir string, content *trace.Content) (stdout, stderr string) {
	t.Helper()
	var file, out, problems bytes.Buffer
	require.NoError(t, trace.Write(&file, content))
	s, err := store.Open(dir, store.S3Options{})
	require.NoError(t, err)
	require.NoError(t, storage.PutBytes(t.Context(), s, shipper.TraceFile, file.Bytes()))
	r := Run{Stdout: &out, Stderr: &problems}
	require.True(t, r.conclude(t.Context(), shipper.LocalRun{
		Directory: dir, Trace: filepath.Join(dir, shipper.TraceFile), Content: content, Summary: merger.Summarize(content),
	}, untraced.NewObserver(dir)), problems.String())
	return out.String(), problems.String()
}

// The output of cairn run says how many calls the recorder's limit of memory left
// incomplete, if any.
func TestRunReportsGeneralizedCalls(t *testing.T) {
	sim, err := simulate.New(simulate.Config{Pattern: "ring", Ranks: 4, Iterations: 10, Bytes: 64, RanksPerNode: 4})
	require.NoError(t, err)
	shard, err := shards.Pod(sim, 0)
	require.NoError(t, err)
	content, err := merger.Merge([]*trace.Content{shard}, merger.Options{Final: true})
	require.NoError(t, err)
	_, stderr := concluded(t, t.TempDir(), content)
	require.Empty(t, stderr)

	finalizes := uint16(0)
	for _, f := range content.Functions {
		if f.Name == "MPI_Finalize" {
			finalizes = f.ID
		}
	}
	for k := range content.Signatures {
		content.Signatures[k].Generalized = content.Signatures[k].Function == finalizes
	}
	_, stderr = concluded(t, t.TempDir(), content)
	require.Contains(t, stderr, fmt.Sprintf("4 of %d calls lack arguments, texts or call sites", content.Threads.Calls()))
}
