package shipper

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
)

// A growingStore checks that each process that was in the store stays there: after each write some
// manifest names it, and the shard of each manifest exists.
type growingStore struct {
	store.Store
	t    *testing.T
	id   Identity
	mu   sync.Mutex
	seen map[identity]bool
	most int // directories with a shard at one time
}

func (g *growingStore) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	err := g.Store.Put(ctx, key, r, size)
	g.look(key)
	return err
}

func (g *growingStore) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	now, err := g.Store.PutIf(ctx, key, r, size, version)
	g.look(key)
	return now, err
}

func (g *growingStore) Delete(ctx context.Context, key string) error {
	err := g.Store.Delete(ctx, key)
	g.look(key)
	return err
}

func (g *growingStore) look(key string) {
	if kind := shard.KindOf(key); kind != shard.KindManifest && kind != shard.KindShard {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := map[identity]bool{}
	all := manifests(g.t, g.Store, g.id)
	for dir, m := range all {
		if o, err := g.Store.Stat(context.Background(), shard.Directory(g.id.PodUID, dir)+m.Shard); err != nil || o.Size != m.Bytes {
			g.t.Errorf("after %s: shard %s of %s is not there: %v", key, m.Shard, dir, err)
		}
		for _, id := range identitiesOf(&m) {
			now[id] = true
		}
	}
	for id := range g.seen {
		if !now[id] {
			g.t.Errorf("after %s: process %d is in no manifest any more", key, id.pid)
		}
	}
	g.seen, g.most = now, max(g.most, len(all))
}

// Ranks go to the store in packs of any size, which another sidecar divides differently; sidecars
// are killed at any request. At any time the store has all processes that were ever uploaded, and
// the trace is, byte for byte, that of a spool that is shipped at the end, as one pack.
func TestPacksOfAnySize(t *testing.T) {
	t.Parallel()
	const ranks, turns = 5, 15_000
	seeds, rounds := uint64(3), 8
	if testing.Short() {
		seeds, rounds = 1, 4 // of each program
	}
	for _, program := range []program{withoutOrder, repeats} {
		plain, s := t.TempDir(), openStore(t)
		run := beginRanks(t, plain, program, ranks)
		for range rounds + 1 {
			run.some(turns)
		}
		run.end()
		shipPatiently(t, plain, s, 1<<40)
		require.Len(t, manifests(t, s, pod(0)), 1)
		want, _, _ := merged(t, s, pod(0))

		for seed := range seeds {
			random := rand.New(rand.NewPCG(seed, 88))
			spool, s := t.TempDir(), &growingStore{Store: openStore(t), t: t, id: pod(0)}
			run := beginRanks(t, spool, program, ranks)
			var ends []func()
			for _, l := range run.long {
				ends = append(ends, spooltest.Hold(t, l.Directory))
			}
			for range rounds {
				dying := &steps{Store: s, left: random.IntN(40), dead: make(chan struct{})}
				o := quick(t, spool, dying, pod(0))
				o.Logf, o.maxPack = nil, 1<<random.IntN(26)
				kill := killed(t, o)
				run.some(turns)
				select {
				case <-dying.dead:
				case <-time.After(time.Second): // it makes fewer requests
				}
				kill()
			}
			o := quick(t, spool, s, pod(0))
			o.Logf, o.Grace, o.maxPack = nil, patient, 1<<random.IntN(20)
			stop := running(t, o)
			run.some(turns)
			run.end()
			for _, end := range ends {
				end()
			}
			emptied(t, spool)
			require.Empty(t, stop())
			got, _, _ := merged(t, s, pod(0))
			require.True(t, bytes.Equal(want, got), "seed %d: %d and %d bytes", seed, len(want), len(got))
			require.Greater(t, s.most, 1)
		}
	}
}

// Ranks that do the same are one pack; those without order are several.
func TestPacksFollowMemory(t *testing.T) {
	turns, limit := 50_000, maxPack
	if testing.Short() {
		turns, limit = turns/4, limit/4
	}
	for _, program := range []program{repeats, withoutOrder} {
		spool, s := t.TempDir(), openStore(t)
		run := beginRanks(t, spool, program, 8)
		run.some(turns)
		run.end()
		shipPatiently(t, spool, s, limit)
		packs := len(manifests(t, s, pod(0)))
		require.Equal(t, program == withoutOrder, packs > 1, "%d packs", packs)
	}
}
