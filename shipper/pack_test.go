package shipper

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/trace"
)

func sizes(t *testing.T, pattern string) (n int64) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	for _, file := range files {
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) { // coded and removed meanwhile
			continue
		}
		require.NoError(t, err)
		n += info.Size()
	}
	return n
}

// The logs of a long run are coded while it runs, and the trace is the same as without that.
func TestPackWhileRanksGoOn(t *testing.T) {
	const turns = 100_000
	spool, plain := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Pack(ctx, spool)
	}()
	var traces [][]byte
	for _, where := range []string{spool, plain} {
		for rank := range 2 {
			p := spooltest.New("long", rank, 2)
			l := p.Begin(t, where)
			l.Jitter = 1 << 24 // few calls fill a file of the log
			p.Init()
			l.Repeat(1)
			p.Send(4, 1-rank).Barrier().Send(8, 1-rank)
			l.Repeat(turns)
			p.Finalize()
			l.Repeat(1)
		}
		if where == spool {
			logs := filepath.Join(spool, "*", "times-*")
			parts := filepath.Join(spool, "*", "part-*")
			eventually(t, "the logs are coded", func() bool { return sizes(t, logs) < 2<<20 && sizes(t, parts) > 0 })
			cancel()
			<-done
		}
		runs, problems, err := RunLocal(context.Background(), LocalOptions{Spool: where, Out: t.TempDir(), Wait: time.Millisecond})
		require.NoError(t, err)
		require.Empty(t, problems)
		require.Len(t, runs, 1)
		b, err := os.ReadFile(runs[0].Trace)
		require.NoError(t, err)
		traces = append(traces, b)
		r, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		require.EqualValues(t, 2*(3*turns+2), r.Threads().Calls())
	}
	require.True(t, bytes.Equal(traces[0], traces[1]), "%d and %d bytes", len(traces[0]), len(traces[1]))
}
