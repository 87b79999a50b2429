package localrun

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/cmd/cairn/internal/hosts"
)

// Parts that could not be read, and records while those of other hosts are missing, are kept.
func TestPartsAreKept(t *testing.T) {
	out := t.TempDir()
	f, err := openRunFolder(out, false)
	require.NoError(t, err)
	defer f.Close()
	part := filepath.Join(f.tracer(), "parts", "host-1.tar.zst")
	require.NoError(t, os.MkdirAll(filepath.Dir(part), 0o755))
	require.NoError(t, os.WriteFile(part, []byte("cut"), 0o644))
	_, err = hosts.Unpack(out, f.spool())
	require.Error(t, err)
	f.merged = true
	f.leave()
	require.FileExists(t, part)

	write := func(size string) {
		require.NoError(t, os.WriteFile(filepath.Join(out, hosts.HostsFile),
			[]byte(`[{"host":"a","run":{"size":`+size+`},"tasks":[0,1]},{"host":"b","run":{"size":`+size+`},"tasks":[1,2]}]`), 0o644))
	}
	r := Run{spread: true}
	write("5")
	require.Contains(t, r.missing(f, nil), "it has nothing of 2 tasks of the job")
	for _, size := range []string{"3", "-1"} {
		write(size)
		require.Empty(t, r.missing(f, nil))
	}
}
