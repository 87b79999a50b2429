package shipper

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/store"
)

// An idle pod reports that once and then writes nothing; a busy one writes a heartbeat from time to
// time; each change is reported.
func TestIdlePodsAreQuiet(t *testing.T) {
	t.Parallel()
	spool, s := t.TempDir(), openStore(t)
	o := quick(t, spool, s, pod(0))
	o.Checkpoint = time.Hour // no uploads in between
	running(t, o)
	sequence := func() int64 { return readPod(t, s, pod(0)).Sequence }
	eventually(t, "the first heartbeat", func() bool { _, err := s.Stat(t.Context(), "shards/uid-0/pod.json"); return err == nil })
	first := sequence()
	time.Sleep(10 * o.Heartbeat)
	require.Equal(t, first, sequence(), "idle")
	require.Positive(t, readPod(t, s, pod(0)).ReportsWithin)

	end := finished("launch", 0, 1).Live(t, spool)
	eventually(t, "busy", func() bool { return readPod(t, s, pod(0)).LiveProcesses == 1 })
	busy := sequence()
	eventually(t, "heartbeats while it lives", func() bool { return sequence() >= busy+5 })
	end()
	eventually(t, "idle", func() bool { p := readPod(t, s, pod(0)); return p.Idle() })
	emptied(t, spool)
	time.Sleep(4 * o.Heartbeat) // what changed last
	last := sequence()
	time.Sleep(10 * o.Heartbeat)
	require.Equal(t, last, sequence(), "idle again")
}

// The last heartbeat is retried like everything else: a short outage does not hide it.
func TestLastHeartbeatIsRetried(t *testing.T) {
	t.Parallel()
	spool, s := t.TempDir(), &unreliable{Store: openStore(t), down: true}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := quick(t, spool, s, pod(0))
	o.Grace = 20 * time.Second
	time.AfterFunc(time.Second, func() { s.set(false) })
	begun := time.Now()
	require.Empty(t, Ship(ctx, o))
	require.Less(t, time.Since(begun), 10*time.Second)
	require.True(t, readPod(t, s, pod(0)).Final)
}

// hanging is a store on an unavailable file system: its calls do not return.
type hanging struct{ store.Store }

func (hanging) List(context.Context, string) ([]store.Object, error) { select {} }

func (hanging) Put(context.Context, string, io.Reader, int64) error { select {} }

// A store that never answers, whatever the context, does not delay the end beyond the grace period;
// the ranks are named.
func TestStoreThatHangs(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	finished("launch", 2, 4).Write(t, spool)
	ctx, cancel := context.WithCancel(context.Background())
	o := quick(t, spool, hanging{openStore(t)}, pod(0))
	o.Grace = 8 * time.Second
	reports := make(chan Outcome, 10)
	o.Report = func(o Outcome) { reports <- o }
	time.AfterFunc(100*time.Millisecond, cancel)
	begun := time.Now()
	lost := Ship(ctx, o)
	require.Less(t, time.Since(begun), 100*time.Millisecond+o.Grace)
	require.Len(t, lost, 1)
	require.Contains(t, lost[0], "rank 2")
	require.Equal(t, lost, (<-reports).Lost, "said at once, in case that the pod is killed")
}
