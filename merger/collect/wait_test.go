package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// sidecar runs on a spool until the test ends.
func sidecar(t *testing.T, s store.Store, pod int, spool string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		shipper.Ship(ctx, shipper.Options{Spool: spool, Store: s, Identity: identity(pod), Grace: time.Second, Scan: 100 * time.Millisecond})
	}()
	t.Cleanup(func() { cancel(); <-done })
	require.Eventually(t, func() bool {
		var p shard.Pod
		return shard.Read(t.Context(), s, shard.PodKey(identity(pod).PodUID), &p) == nil
	}, 20*time.Second, 10*time.Millisecond)
}

// A worker without ranks reports that once: the merge does not wait for it beyond ReportsWithin.
func TestIdleWorkerWithoutRanks(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ship(t, s, 0) // the launcher
	sidecar(t, s, 1, t.TempDir())
	begun := time.Now()
	r := merge(t, s, Options{CollectTimeout: time.Minute, Pods: 2})
	require.Less(t, time.Since(begun), 14*time.Second)
	require.Empty(t, r.Runs)
	require.NotContains(t, fmt.Sprint(r.Problems), "waiting")
}

// With all ranks there is no need to wait for anything.
func TestIdleWorkersWithAllRanks(t *testing.T) {
	s := openStore(t)
	ship(t, s, 0)
	spool := t.TempDir()
	rank("w", 0, 1, 0).Write(t, spool)
	sidecar(t, s, 1, spool)
	sidecar(t, s, 2, t.TempDir())
	require.Eventually(t, func() bool {
		var p shard.Pod
		return shard.Read(t.Context(), s, shard.PodKey("uid-1"), &p) == nil && p.Idle()
	}, 20*time.Second, 10*time.Millisecond)
	begun := time.Now()
	r := merge(t, s, Options{CollectTimeout: time.Minute, Pods: 3})
	require.Less(t, time.Since(begun), time.Second)
	require.Len(t, r.Runs, 1)
}

// What began before the launcher's end and is reported only now is waited for.
func TestStragglerOfAnIdlePod(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ship(t, s, 0, rank("w", 0, 2, 0))
	spool := t.TempDir()
	sidecar(t, s, 1, spool)
	time.AfterFunc(2*time.Second, func() {
		end := rank("w", 1, 2, 0).Live(t, spool)
		time.AfterFunc(10*time.Second, end) // longer than ReportsWithin
	})
	r := merge(t, s, Options{CollectTimeout: time.Minute, Pods: 2})
	require.Len(t, r.Runs, 1)
	require.Empty(t, r.Runs[0].MissingRanks)
}

// A pod that is idle, and idle again with another heartbeat, is watched from the start; a busy one
// is waited for.
func TestSettled(t *testing.T) {
	seen := &watches{pods: map[string]*watch{}}
	pod := &shard.Pod{PodUID: "a", Sequence: 5, ReportsWithin: time.Second}
	inv := &inventory{pods: map[string]*shard.Pod{"a": pod}}
	seen.see(inv, true)
	require.False(t, done(inv, 1, seen))
	seen.pods["a"].since = seen.pods["a"].since.Add(-2 * time.Second)
	seen.see(inv, false)
	require.True(t, done(inv, 1, seen))
	pod.Sequence++
	seen.see(inv, false)
	require.False(t, done(inv, 1, seen))
	seen.pods["a"].since = seen.pods["a"].since.Add(-2 * time.Second)
	require.True(t, done(inv, 1, seen))
	require.False(t, done(inv, 2, seen), "a pod that has left no sign")
	pod.LiveProcesses = 1
	require.False(t, done(inv, 1, seen))
	pod.Final = true
	require.True(t, done(inv, 1, seen))
}

// counting counts what is read.
type counting struct {
	store.Store
	mu   sync.Mutex
	gets map[string]int
	fail bool
}

func (c *counting) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail {
		return nil, &store.Error{Reason: store.Unreachable, Message: "down", Err: errors.New("down")}
	}
	c.gets[key]++
	return c.Store.Get(ctx, key)
}

func TestOnlyWhatChangedIsReadAgain(t *testing.T) {
	s := &counting{Store: openStore(t), gets: map[string]int{}}
	for n := range 3 {
		heartbeat(t, s, n, func(p *shard.Pod) { p.LiveProcesses = 1 })
	}
	stock := &inventoryReader{store: s}
	take := func() *inventory {
		t.Helper()
		inv, err := stock.take(t.Context())
		require.NoError(t, err)
		return inv
	}
	require.Len(t, take().pods, 3)
	heartbeat(t, s, 1, func(p *shard.Pod) { p.LiveProcesses = 2; p.Sequence = 2 })
	require.Equal(t, 2, take().pods["uid-1"].LiveProcesses)
	require.Len(t, take().pods, 3)
	require.Equal(t, map[string]int{"shards/uid-0/pod.json": 1, "shards/uid-1/pod.json": 2, "shards/uid-2/pod.json": 1}, s.gets)
	s.fail = true
	require.Len(t, take().pods, 3, "nothing has changed, nothing is read")
	heartbeat(t, s, 0, func(p *shard.Pod) { p.Sequence = 9 })
	_, err := stock.take(t.Context())
	require.Error(t, err)
	s.fail = false
	require.EqualValues(t, 9, take().pods["uid-0"].Sequence)
	require.NoError(t, s.Delete(t.Context(), "shards/uid-2/pod.json"))
	require.Len(t, take().pods, 2)
}

// Ranks of a launch that leave the spool one after the other are in several shards of the
// pod, and one run.
func TestShardsOfOnePodAddUp(t *testing.T) {
	s, spool := openStore(t), t.TempDir()
	sidecar(t, s, 0, spool)
	for n := range 3 {
		dir := rank("w", n, 3, 0).Write(t, spool)
		require.Eventually(t, func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) }, 20*time.Second, 10*time.Millisecond)
	}
	r := merge(t, s, Options{CollectTimeout: time.Minute, Pods: 1})
	require.Len(t, r.Runs, 1)
	require.Empty(t, r.Runs[0].MissingRanks)
	require.EqualValues(t, 12, r.Runs[0].Calls)
	require.Empty(t, r.Problems)
}
