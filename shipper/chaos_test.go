package shipper

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/budget"
)

// Sidecars that are killed at random times, a store that is temporarily unavailable, a rank that is
// killed, and at the end the pod is lost without warning, or ends. No recorded call is lost; of a
// pod that was lost, no call before the last complete upload. Nothing is in the store twice.
func TestChaos(t *testing.T) {
	t.Parallel()
	seeds, rounds := uint64(6), 12
	if testing.Short() {
		seeds, rounds = 2, 6
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 15))
		spool, s := t.TempDir(), &unreliable{Store: openStore(t)}
		root, err := os.OpenRoot(spool)
		require.NoError(t, err)
		const limit = 40 << 20
		_, err = budget.Make(root, limit)
		require.NoError(t, err)
		ranks, long, ends, made := []*spooltest.Process{}, []*spooltest.Long{}, []func(){}, make([]uint64, 3)
		for rank := range 3 {
			p := spooltest.New("chaos", rank, 3)
			p.Shared = true
			l := p.Begin(t, spool)
			l.Jitter = 1 << 20
			p.Init()
			l.Repeat(1)
			made[rank]++
			ranks, long, ends = append(ranks, p), append(long, l), append(ends, spooltest.Hold(t, l.Directory))
		}
		o := quick(t, spool, s, pod(0))
		o.SpoolLimit, o.Logf, o.Grace = limit, nil, patient
		kill := killed(t, o)
		dead := -1 // the rank that was killed
		play := func(turns int) {
			for rank, p := range ranks {
				if rank == dead {
					continue
				}
				p.Send(4, (rank+1)%3).Barrier()
				long[rank].Repeat(turns)
				made[rank] += 2 * uint64(turns)
			}
		}
		for range rounds {
			switch random.IntN(6) {
			case 0:
				kill()
				kill = killed(t, o)
			case 1:
				s.set(true)
			case 2:
				s.set(false)
			case 3:
				if victim := random.IntN(3); dead < 0 && random.IntN(2) == 0 {
					dead = victim
					ends[dead]()
				}
			}
			play(5_000 + random.IntN(20_000))
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
		}
		kill() // including a back-off of many seconds
		s.set(false)
		kill = killed(t, o)
		pause := 300 * time.Millisecond // a sidecar needs longer on a busy machine
		eventually(t, "the store has all", func() bool {
			kill() // shards must not be read while they are replaced
			stored := storedCalls(t, s, pod(0))
			if slices.Equal(stored, made) {
				return true
			}
			kill = killed(t, o)
			time.Sleep(pause)
			pause = min(2*pause, 5*time.Second)
			return false
		})
		promised := slices.Clone(made)
		kill = killed(t, o)
		play(10_000 + random.IntN(30_000))
		if seed%2 == 0 { // the pod is lost
			kill()
			stored := storedCalls(t, s, pod(0))
			for rank := range made {
				require.GreaterOrEqual(t, stored[rank], promised[rank])
				require.LessOrEqual(t, stored[rank], made[rank])
			}
			continue
		}
		for _, end := range ends { // all ranks are killed, and the pod ends
			end()
		}
		kill()
		require.Empty(t, running(t, o)())
		require.Equal(t, made, storedCalls(t, s, pod(0)))
	}
}

// storedCalls returns the number of calls of each rank that can be read from the store, with all
// their times, in shards like the merge reads them; nil while a shard is being replaced.
func storedCalls(t *testing.T, s store.Store, id Identity) []uint64 {
	t.Helper()
	calls := make([]uint64, 3)
	for dir, m := range manifests(t, s, id) {
		if _, err := s.Stat(context.Background(), shard.Directory(id.PodUID, dir)+m.Shard); store.IsNotFound(err) {
			return nil
		}
		chain := chainOf(t, s, id, dir, m)
		r, err := trace.Open(bytes.NewReader(chain), int64(len(chain)))
		require.NoError(t, err)
		c, err := r.StreamedContent()
		require.NoError(t, err)
		for _, th := range c.Threads.All() {
			gaps, _, err := th.Times()
			require.NoError(t, err)
			require.EqualValues(t, th.Calls, len(gaps))
			calls[th.Rank] = max(calls[th.Rank], th.Calls)
		}
	}
	return calls
}
