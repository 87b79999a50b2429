package shipper

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// worldsAB fills a spool with two worlds, of which the first in the order is the one
// that is returned.
func worldsAB(t *testing.T, spool string) (first *spooltest.Process) {
	t.Helper()
	first = finished("a", 0, 1)
	first.Write(t, spool)
	other := finished("b", 0, 1)
	other.PID = 900
	other.Write(t, spool)
	return first
}

// swept is a ship on a spool that only the test sweeps.
func swept(t *testing.T, spool string, s store.Store) *ship {
	t.Helper()
	o := quick(t, spool, s, pod(0))
	o.complete()
	return newShip(o)
}

// A world of which no shard can be made does not block the others, and is not a failure of the
// storage.
func TestWorldThatCannotBeMade(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	first := worldsAB(t, spool)
	sh := swept(t, spool, s)
	sh.restored = true
	sh.worlds["a"] = newWorld("a")
	sh.worlds["a"].open = []*located{nil} // the sidecar fails on it
	require.True(t, sh.sweep(t.Context(), false))
	require.Contains(t, manifests(t, s, pod(0)), worldID("b"))
	now, _ := sh.look()
	require.True(t, now.Idle(), "%+v", now)
	require.Len(t, now.Problems, 1)
	require.Contains(t, now.Problems[0], first.Directory())
	require.Len(t, now.Unrecorded, 1, "no shard says that these ranks are lost")
	require.NoError(t, sh.storage)
	require.True(t, exists(spool+"/"+first.Directory()), "it is kept for a person")
	err := sh.put(t.Context(), &located{}, &pack{content: &trace.Content{Meta: trace.Meta{WorldSize: -1}}})
	require.ErrorIs(t, err, errUnusable, "nor is a trace that is not valid")
}

// unreadable makes the system fail on a process's directory until the function that it
// returns is called.
func unreadable(t *testing.T, sh *ship, name string) (mend func()) {
	t.Helper()
	_, err := sh.scan()
	require.NoError(t, err)
	closed, err := os.OpenRoot(sh.Options.Spool)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	sh.spool.known[name].spool = closed
	return func() { sh.spool.known[name].spool = sh.spool.root }
}

// A process that the system cannot read now is read again, and the other worlds do not wait for it.
func TestReadErrorThatPasses(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	first := worldsAB(t, spool)
	sh := swept(t, spool, s)
	mend := unreadable(t, sh, first.Directory())
	sh.sweep(t.Context(), false)
	require.Len(t, manifests(t, s, pod(0)), 1)
	now, _ := sh.look()
	require.Equal(t, 1, now.Pending, "it is still to come")
	require.Empty(t, now.Problems)
	mend()
	sh.sweep(t.Context(), false)
	require.Len(t, collected(t, s, pod(0)), 2)
	now, _ = sh.look()
	require.True(t, now.Idle())
	require.Empty(t, now.Problems)
}

// If it remains unreadable, the rest of its world does not wait forever. At the pod's end it is
// retried once.
func TestReadErrorThatStays(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	broken := finished("launch", 0, 2)
	broken.Write(t, spool)
	finished("launch", 1, 2).Write(t, spool)
	sh := swept(t, spool, s)
	mend := unreadable(t, sh, broken.Directory())
	for range maxReads + 1 {
		sh.sweep(t.Context(), false)
	}
	require.Len(t, collected(t, s, pod(0)), 1)
	now, _ := sh.look()
	require.True(t, now.Idle())
	require.Contains(t, strings.Join(now.Problems, "\n"), broken.Directory())
	require.Len(t, now.Unrecorded, 1)
	require.True(t, exists(spool+"/"+broken.Directory()))
	mend()
	sh.finish(context.Background(), time.Now())
	require.Len(t, collected(t, s, pod(0)), 2)
	now, _ = sh.look()
	require.Empty(t, now.Unrecorded, "it could be used after all")
}

// At the end the ranks of a world that can be read do not wait for one that cannot.
func TestReadErrorAtTheEnd(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	broken := finished("launch", 0, 2)
	broken.Write(t, spool)
	finished("launch", 1, 2).Write(t, spool)
	sh := swept(t, spool, s)
	mend := unreadable(t, sh, broken.Directory())
	require.False(t, sh.sweep(t.Context(), true))
	require.Len(t, collected(t, s, pod(0)), 1)
	require.Len(t, sh.lost(), 1)
	mend()
	require.True(t, sh.sweep(t.Context(), true))
	require.Len(t, collected(t, s, pod(0)), 2)
	require.Empty(t, sh.lost())
}
