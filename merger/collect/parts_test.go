package collect

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/miniotest"
	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
)

// longPod leaves in a spool two ranks that have made many calls; finish makes their last calls.
func longPod(t *testing.T, spool string, pod int) (long []*spooltest.Long, finish func()) {
	var ranks []*spooltest.Process
	for n := range 2 {
		p := spooltest.New("long", 2*pod+n, 4)
		l := p.Begin(t, spool)
		p.Init()
		l.Repeat(1)
		p.Send(4, 1).Barrier().Send(8, 1)
		l.Repeat(300_000)
		ranks, long = append(ranks, p), append(long, l)
	}
	return long, func() {
		for n, p := range ranks {
			p.Finalize()
			long[n].Repeat(1)
		}
	}
}

// partsOf are the keys of the objects with parts.
func partsOf(t *testing.T, s store.Store) (keys []string) {
	t.Helper()
	objects, err := s.List(context.Background(), shard.Root)
	require.NoError(t, err)
	for _, o := range objects {
		if shard.KindOf(o.Key) == shard.KindPart {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// neededPart is the key of an object with parts that a shard of a pod needs.
func neededPart(t *testing.T, s store.Store, pod string) string {
	t.Helper()
	objects, err := s.List(context.Background(), shard.Directory(pod, ""))
	require.NoError(t, err)
	for _, o := range objects {
		var m shard.Manifest
		if shard.KindOf(o.Key) == shard.KindManifest {
			require.NoError(t, shard.Read(context.Background(), s, o.Key, &m))
		}
		if len(m.Parts) > 0 {
			return shard.PartKey(pod, m.Parts[0].Name)
		}
	}
	t.Fatal("no shard needs parts")
	return ""
}

// shipLong uploads the shard of a pod whose ranks have made many calls. While they run it uploads
// parts.
func shipLong(t *testing.T, s store.Store, pod int, living bool) {
	t.Helper()
	spool := t.TempDir()
	long, finish := longPod(t, spool, pod)
	ctx, cancel := context.WithCancel(context.Background())
	lost := make(chan []string, 1)
	start := func() {
		go func() {
			lost <- shipper.Ship(ctx, shipper.Options{Spool: spool, Store: s, Identity: identity(pod), Scan: 20 * time.Millisecond, Checkpoint: 100 * time.Millisecond})
		}()
	}
	if living {
		var ends []func()
		for _, l := range long {
			ends = append(ends, spooltest.Hold(t, l.Directory))
		}
		before := len(partsOf(t, s))
		start()
		for deadline := time.Now().Add(time.Minute); len(partsOf(t, s)) == before; time.Sleep(50 * time.Millisecond) {
			require.True(t, time.Now().Before(deadline), "no parts")
		}
		finish()
		for _, end := range ends {
			end()
		}
	} else {
		finish()
		start()
	}
	cancel()
	require.Empty(t, <-lost)
}

// The trace of pods that uploaded parts while their ranks ran equals that of pods that were shipped
// at their end.
func TestStoredPartsAreMerged(t *testing.T) {
	endpoint, stop, err := miniotest.Start()
	require.NoError(t, err)
	defer stop()
	t.Setenv("AWS_ACCESS_KEY_ID", miniotest.RootUser)
	t.Setenv("AWS_SECRET_ACCESS_KEY", miniotest.RootPassword)
	options := store.S3Options{Endpoint: endpoint}
	var traces [][]byte
	for bucket, living := range map[string]bool{"living": true, "ended": false} {
		require.NoError(t, store.MakeBucket(context.Background(), "s3://"+bucket, options))
		s, err := store.Open("s3://"+bucket, options)
		require.NoError(t, err)
		for pod := range 2 {
			shipLong(t, s, pod, living)
		}
		r := merge(t, s, Options{CollectTimeout: patience, Pods: 2})
		require.Empty(t, r.Lost)
		require.Len(t, r.Runs, 1)
		object, err := s.Get(context.Background(), "0/0/trace.cairn")
		require.NoError(t, err)
		b, err := io.ReadAll(object)
		require.NoError(t, err)
		require.NoError(t, object.Close())
		traces = append(traces, b)
	}
	require.True(t, bytes.Equal(traces[0], traces[1]), "%d and %d bytes", len(traces[0]), len(traces[1]))
}

// If parts were deleted, or are incomplete, the ranks of that pod are missing, and the trace has
// all others.
func TestMissingPartsAreNamed(t *testing.T) {
	whole := openStore(t)
	for pod := range 2 {
		shipLong(t, whole, pod, true)
	}
	needed := neededPart(t, whole, identity(0).PodUID)
	for what, damage := range map[string]func(s store.Store){
		".part": func(s store.Store) { require.NoError(t, s.Delete(t.Context(), needed)) },
		".part has 100 bytes, not": func(s store.Store) {
			require.NoError(t, s.Put(t.Context(), needed, bytes.NewReader(make([]byte, 100)), 100))
		},
	} {
		s := openStore(t)
		objects, err := whole.List(t.Context(), "")
		require.NoError(t, err)
		for _, o := range objects {
			r, err := whole.Get(t.Context(), o.Key)
			require.NoError(t, err)
			require.NoError(t, s.Put(t.Context(), o.Key, r, o.Size))
			require.NoError(t, r.Close())
		}
		damage(s)
		r := merge(t, s, Options{CollectTimeout: patience, Pods: 2})
		require.Len(t, r.Runs, 1)
		require.Equal(t, "0-1", r.Runs[0].MissingRanks)
		require.Len(t, r.Problems, 1)
		require.Contains(t, r.Problems[0], "ranks 0-1 of pod worker-0 are missing")
		require.Contains(t, r.Problems[0], what)
	}
}
