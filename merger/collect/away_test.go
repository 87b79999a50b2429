package collect

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
)

// awayStore does not answer until a given time, and is slow to list.
type awayStore struct {
	store.Store
	mu    sync.Mutex
	until time.Time
	slow  time.Duration
}

func (s *awayStore) away(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until = time.Now().Add(d)
}

func (s *awayStore) List(ctx context.Context, prefix string) ([]store.Object, error) {
	s.mu.Lock()
	until := s.until
	s.mu.Unlock()
	time.Sleep(s.slow)
	if time.Now().Before(until) {
		return nil, &store.Error{Op: "list", Reason: store.Unreachable, Message: "away", Err: errors.New("away")}
	}
	return s.Store.List(ctx, prefix)
}

// inBubble runs a test with its own clock. The encoder of traces keeps channels from its first use:
// that must be outside of the bubble.
func inBubble(t *testing.T, test func(t *testing.T)) {
	ship(t, openStore(t), 0, rank("before", 0, 1, 0))
	synctest.Test(t, test)
}

// patient wraps a store like the merge does.
func patient(s store.Store) store.Store {
	return store.Patient(s, store.Patience{Unreachable: 15 * time.Minute})
}

// The time to wait for ranks stands still while the store is unavailable: their sidecars cannot
// upload either.
func TestStoreThatIsAwayCostsNoRanks(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &awayStore{Store: openStore(t)}
		heartbeat(t, s, 0, func(p *shard.Pod) { p.Pending = 1 })
		s.away(10 * time.Minute)
		// the sidecar gets its turn a little later
		time.AfterFunc(10*time.Minute+20*time.Second, func() {
			heartbeat(t, s, 0, func(p *shard.Pod) { p.Sequence, p.Final = 2, true })
		})
		inv, late, err := wait(t.Context(), patient(s), Options{CollectTimeout: 30 * time.Second, Pods: 1})
		require.NoError(t, err)
		require.Empty(t, late)
		require.True(t, inv.pods["uid-0"].Final)
	})
}

// A store that is slow to list is not unavailable: the time to wait passes.
func TestSlowStoreDoesNotStretchTheTimeToWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &awayStore{Store: openStore(t), slow: 10 * time.Second}
		heartbeat(t, s, 0, func(p *shard.Pod) { p.Pending = 1 })
		begun := time.Now()
		_, late, err := wait(t.Context(), patient(s), Options{CollectTimeout: time.Minute, Pods: 1})
		require.NoError(t, err)
		require.Contains(t, late, "after 1m0s")
		require.Less(t, time.Since(begun), 90*time.Second)
	})
}

// A job with two launches. The store has everything of the first one and was unavailable during the
// second. Each of its pods reports it shortly after the store answers again, when the merge has
// begun. The merge notices by the launcher's end, or because it had to wait itself.
func TestSecondLaunchDuringAnOutage(t *testing.T) {
	for name, c := range map[string]struct {
		attempts []Attempt
		away     time.Duration // from the merge's beginning on
	}{
		"the store is back":       {attempts: []Attempt{{FinishedAt: time.Now()}}},
		"the store is still away": {away: time.Minute},
		"both":                    {attempts: []Attempt{{FinishedAt: time.Now()}}, away: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := &awayStore{Store: openStore(t)}
				ship(t, s, 0, rank("first", 0, 2, 0))
				ship(t, s, 1, rank("first", 1, 2, 0))
				looked := time.Now()
				for n := range 2 {
					heartbeat(t, s, n, func(p *shard.Pod) { p.ReportsWithin, p.LookedAt = 10*time.Second, looked })
				}
				time.Sleep(time.Minute)
				s.away(c.away)
				for i := range c.attempts {
					c.attempts[i].FinishedAt = time.Now()
				}
				for n := range 2 {
					time.AfterFunc(c.away+9*time.Second, func() {
						heartbeat(t, s, n, func(p *shard.Pod) { p.Sequence, p.Pending = 2, 1 })
						time.Sleep(time.Duration(1+10*n) * time.Second)
						ship(t, s, n, rank("second", n, 2, int64(time.Minute)))
					})
				}
				inv, late, err := wait(t.Context(), patient(s), Options{CollectTimeout: 5 * time.Minute, Pods: 2, Attempts: c.attempts})
				require.NoError(t, err)
				require.Empty(t, late)
				require.Len(t, inv.worlds(), 2)
				require.True(t, inv.complete())
			})
		})
	}
}

// The store becomes unavailable while pods are watched: they are watched from the start.
func TestOutageWhilePodsAreWatched(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &awayStore{Store: openStore(t)}
		heartbeat(t, s, 0, func(p *shard.Pod) { p.ReportsWithin = 10 * time.Second })
		time.AfterFunc(5*time.Second, func() { s.away(time.Minute) })
		time.AfterFunc(5*time.Second+time.Minute+9*time.Second, func() { ship(t, s, 0, rank("late", 0, 1, 0)) })
		inv, _, err := wait(t.Context(), patient(s), Options{CollectTimeout: 5 * time.Minute, Pods: 1})
		require.NoError(t, err)
		require.True(t, inv.complete())
	})
}

// Pods that looked at their spool at about the launcher's end have nothing more to report: the
// merge begins immediately.
func TestNoOutageCostsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := &awayStore{Store: openStore(t)}
		ship(t, s, 0, rank("only", 0, 1, 0))
		heartbeat(t, s, 0, func(p *shard.Pod) { p.ReportsWithin, p.LookedAt = 10*time.Second, time.Now() })
		time.Sleep(time.Second)
		begun := time.Now()
		_, _, err := wait(t.Context(), patient(s), Options{CollectTimeout: time.Minute, Pods: 1, Attempts: []Attempt{{FinishedAt: begun}}})
		require.NoError(t, err)
		require.Zero(t, time.Since(begun))
	})
}

// uploading is a store whose uploads hang while it is unavailable, and finally fail, as over a dead
// connection.
type uploading struct{ *awayStore }

func (s uploading) hang(ctx context.Context) error {
	s.mu.Lock()
	until := s.until
	s.mu.Unlock()
	if time.Now().Before(until) {
		<-ctx.Done()
		return &store.Error{Op: "write", Reason: store.Unreachable, Message: "away", Err: ctx.Err()}
	}
	return nil
}

func (s uploading) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := s.hang(ctx); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, r, size)
}

func (s uploading) PutIf(ctx context.Context, key string, r io.ReadSeeker, size int64, version string) (string, error) {
	if err := s.hang(ctx); err != nil {
		return "", err
	}
	return s.Store.PutIf(ctx, key, r, size, version)
}

// A sidecar reports in time after an outage: whatever it was doing when the store came back, the
// merge that begins just then gets everything.
func TestReportsInTimeAfterAnOutage(t *testing.T) {
	for phase := range 16 {
		inBubble(t, func(t *testing.T) {
			s := uploading{&awayStore{Store: openStore(t)}}
			spool := t.TempDir()
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				shipper.Ship(ctx, shipper.Options{Spool: spool, Store: s, Identity: identity(0)})
			}()
			defer func() { cancel(); <-done }()
			time.Sleep(10 * time.Second)
			s.away(time.Minute + time.Duration(phase)*time.Second)
			time.Sleep(time.Second)
			spooltest.New("launch", 0, 1).Init().Barrier().Finalize().Write(t, spool)
			time.Sleep(time.Minute + time.Duration(phase)*time.Second)
			inv, late, err := wait(t.Context(), patient(s.Store), Options{CollectTimeout: 5 * time.Minute, Pods: 1})
			require.NoError(t, err)
			require.Empty(t, late)
			require.True(t, inv.complete(), "%d s", phase)
		})
	}
}
