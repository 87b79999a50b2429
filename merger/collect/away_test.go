package collect

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
)

// awayStore does not answer for a while, and calls back when it does again.
type awayStore struct {
	store.Store
	away time.Duration
	back func()
}

func (s *awayStore) List(ctx context.Context, prefix string) ([]store.Object, error) {
	if s.away > 0 {
		time.Sleep(s.away)
		s.away = 0
		s.back()
	}
	return s.Store.List(ctx, prefix)
}

// The time to wait for ranks does not pass while the store is away: their sidecars cannot send either.
func TestStoreThatIsAwayCostsNoRanks(t *testing.T) {
	ctx := context.Background()
	directory, err := store.Open(t.TempDir(), store.S3Options{})
	require.NoError(t, err)
	pod := shard.Pod{Pod: "worker-0", Sequence: 1, Pending: 1}
	require.NoError(t, shard.Write(ctx, directory, shard.PodKey("uid"), &pod))
	sent := make(chan error, 1)
	s := &awayStore{Store: directory, away: 600 * time.Millisecond, back: func() {
		go func() {
			time.Sleep(50 * time.Millisecond) // the sidecar's turn comes a little later
			pod.Sequence, pod.Pending, pod.Final = 2, 0, true
			sent <- shard.Write(ctx, directory, shard.PodKey("uid"), &pod)
		}()
	}}
	inv, late, err := wait(ctx, s, Options{CollectTimeout: 500 * time.Millisecond, Pods: 1})
	require.NoError(t, err)
	require.NoError(t, <-sent)
	require.Empty(t, late)
	require.True(t, inv.pods["uid"].Final)
}
