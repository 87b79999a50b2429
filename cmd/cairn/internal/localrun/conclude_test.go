package localrun

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/inspect"
	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
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
	var file, stdout, stderr bytes.Buffer
	require.NoError(t, trace.Write(&file, content))
	s, err := store.Open(dir, store.S3Options{})
	require.NoError(t, err)
	require.NoError(t, storage.PutBytes(t.Context(), s, shipper.TraceFile, file.Bytes()))
	r := Run{Stdout: &stdout, Stderr: &stderr}
	require.True(t, r.conclude(t.Context(), shipper.LocalRun{
		Directory: dir, Trace: filepath.Join(dir, shipper.TraceFile), Content: content, Summary: summary,
	}), stderr.String())
	require.Regexp(t, `^\n(more than )?\d+% of the calls \([\d,]+ of [\d,]+\) were not recorded, because the spool limit of 16777216 bytes was reached \(ranks 0-1\); what follows is about the rest\. `,
		bytes.ReplaceAll(stdout.Bytes(), []byte("More"), []byte("more")))
	require.Contains(t, stderr.String(), "2000000 calls were not recorded (ranks 0-1: the spool limit of 16777216 bytes was reached)")
	require.NotContains(t, stdout.String(), "without MPI_Finalize")

	var printed bytes.Buffer
	info := inspect.NewInfoCommand()
	info.SetOut(&printed)
	info.SetArgs([]string{filepath.Join(dir, shipper.TraceFile)})
	require.NoError(t, info.ExecuteContext(t.Context()))
	require.Contains(t, printed.String(), "2000000 of rank 0-1: the spool limit of 16777216 bytes was reached")
	require.NotContains(t, printed.String(), "ended early")
}
