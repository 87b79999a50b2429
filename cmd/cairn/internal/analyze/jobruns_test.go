package analyze

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/storage"
	"github.com/cairn-mpi/cairn/store"
)

func TestListRuns(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir, store.S3Options{})
	require.NoError(t, err)
	for _, key := range []string{
		"0/0/manifest.json", "0/10/manifest.json", "0/2/manifest.json", "1/0/manifest.json",
		"2/0/trace.cairn", // not whole yet: its manifest is written last
		"shards/pod/world/manifest.json", "0/0/report/report.json", "x/0/manifest.json",
	} {
		require.NoError(t, storage.PutBytes(context.Background(), s, key, []byte("{}")))
	}
	runs, err := listRuns(context.Background(), s)
	require.NoError(t, err)
	require.Equal(t, []jobRun{{0, 0}, {0, 2}, {0, 10}, {1, 0}}, runs)
	require.Equal(t, "0/10/findings/clusters.json", runs[2].key("findings", "clusters.json"))
}

func TestJobName(t *testing.T) {
	name, uid := jobName("s3://traces/prefix/default/stencil/1234/")
	require.Equal(t, "default/stencil", name)
	require.Equal(t, "1234", uid)
}
