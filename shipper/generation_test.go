package shipper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
)

// A lateStore is the store of a sidecar that is killed at its nth write: this write is delayed
// until arrive is called.
type lateStore struct {
	store.Store
	mu   sync.Mutex
	left int
	dead chan struct{}
	late func() // nil: no write is delayed
}

func (l *lateStore) write(do func() error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.left--; {
	case l.left > 0:
		return do()
	case l.left == 0:
		l.late = func() { _ = do() }
		close(l.dead)
	}
	return errDead
}

// arrive performs the delayed write.
func (l *lateStore) arrive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late != nil {
		l.late()
	}
	l.late = nil
}

func (l *lateStore) Put(_ context.Context, key string, r io.Reader, size int64) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return l.write(func() error { return l.Store.Put(context.Background(), key, bytes.NewReader(text), size) })
}

func (l *lateStore) PutIf(_ context.Context, key string, r io.ReadSeeker, size int64, version string) (now string, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	err = l.write(func() error {
		now, err = l.Store.PutIf(context.Background(), key, bytes.NewReader(text), size, version)
		return err
	})
	return now, err
}

func (l *lateStore) Delete(_ context.Context, key string) error {
	return l.write(func() error { return l.Store.Delete(context.Background(), key) })
}

// whole is the trace of the run if one sidecar sees all of it at its end.
func whole(t *testing.T, turns ...int) []byte {
	plain, s := t.TempDir(), openStore(t)
	run := beginLong(t, plain, repeats)
	for _, n := range turns {
		run.some(n)
	}
	run.end()
	shipPatiently(t, plain, s, maxPack)
	trace, _, _ := merged(t, s, pod(0))
	return trace
}

// Writes of dead sidecars arrive at random times, while later sidecars run and after they have
// ended: nothing is lost or counted twice, and the store has what one sidecar would have written.
func TestLateWritesOfDeadSidecars(t *testing.T) {
	t.Parallel()
	const turns = 40_000
	const times = 5
	want := whole(t, turns, turns, turns, turns, turns, turns)
	seeds := uint64(12)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 3))
		spool, s := t.TempDir(), openStore(t)
		run := beginLong(t, spool, repeats)
		var ends []func()
		for _, l := range run.long {
			ends = append(ends, spooltest.Hold(t, l.Directory))
		}
		var dead []*lateStore
		for range times {
			dying := &lateStore{Store: s, left: 1 + random.IntN(12), dead: make(chan struct{})}
			o := quick(t, spool, dying, pod(0))
			o.Logf = nil
			kill := killed(t, o)
			run.some(turns)
			for _, l := range dead {
				if random.IntN(3) == 0 {
					time.Sleep(time.Duration(random.IntN(50)) * time.Millisecond)
					l.arrive()
				}
			}
			select {
			case <-dying.dead:
			case <-time.After(3 * time.Second):
			}
			kill()
			dead = append(dead, dying)
		}
		o := quick(t, spool, s, pod(0))
		o.Logf, o.Grace = nil, patient
		stop := running(t, o)
		run.some(turns)
		for _, l := range dead[:random.IntN(times)] {
			l.arrive()
		}
		run.end()
		for _, end := range ends {
			end()
		}
		emptied(t, spool)
		require.Empty(t, stop())
		for _, l := range dead {
			l.arrive()
		}
		got, _, _ := merged(t, s, pod(0))
		require.True(t, bytes.Equal(want, got), "seed %d: %d and %d bytes", seed, len(want), len(got))
	}
}

// Two sidecars of one pod take turns in any order, each with its own state.
func TestTwoSidecarsOfOnePod(t *testing.T) {
	t.Parallel()
	want := whole(t, 20_000, 20_000, 20_000, 20_000, 20_000, 20_000)
	overtaken := 0
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 4))
		spool, s := t.TempDir(), openStore(t)
		run := beginLong(t, spool, repeats)
		var ends []func()
		for _, l := range run.long {
			ends = append(ends, spooltest.Hold(t, l.Directory))
		}
		both := make([]*ship, 2)
		for i := range both {
			o := quick(t, spool, s, pod(0))
			o.Checkpoint = time.Millisecond
			o.Logf = func(format string, args ...any) {
				for _, arg := range args {
					if err, is := arg.(error); is && errors.Is(err, errOvertaken) {
						overtaken++
					}
				}
			}
			o.complete()
			both[i] = newShip(o)
		}
		left := 6
		turn := func() {
			either := both[random.IntN(2)]
			switch random.IntN(4) {
			case 0:
				either.packer.next = time.Time{}
				either.pack(t.Context())
			case 1:
				if left > 0 {
					run.some(20_000)
					left--
				}
			default:
				time.Sleep(2 * time.Millisecond)
				either.sweep(t.Context(), false)
			}
		}
		for left > 0 {
			turn()
		}
		run.end()
		for _, end := range ends {
			end()
		}
		empty := func() bool {
			entries, err := os.ReadDir(spool)
			require.NoError(t, err)
			for _, e := range entries {
				if strings.HasPrefix(e.Name(), "host-") {
					return false
				}
			}
			return true
		}
		for n := 0; !empty(); n++ {
			require.Less(t, n, 500)
			turn()
		}
		got, _, _ := merged(t, s, pod(0))
		require.True(t, bytes.Equal(want, got), "seed %d: %d and %d bytes", seed, len(want), len(got))
	}
	if !testing.Short() { // with all seeds
		require.Positive(t, overtaken)
	}
}

// A second sidecar waits for the first one to end.
func TestOneSidecarAtATime(t *testing.T) {
	spool, s := t.TempDir(), openStore(t)
	o := quick(t, spool, s, pod(0))
	o.Grace = patient
	stop := running(t, o)
	eventually(t, "the first works", func() bool {
		objects, err := s.List(t.Context(), "")
		return err == nil && len(objects) > 0
	})
	first := readPod(t, s, pod(0)).Sequence
	var mu sync.Mutex
	waits := false
	o.Logf = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		waits = waits || strings.Contains(format, "waiting for it")
	}
	second := newShip(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan []string, 1)
	second.Options.complete()
	go func() { done <- second.run(ctx) }()
	eventually(t, "the second waits", func() bool { mu.Lock(); defer mu.Unlock(); return waits })
	finished("launch", 0, 1).Write(t, spool)
	emptied(t, spool)
	stop()
	require.GreaterOrEqual(t, readPod(t, s, pod(0)).Sequence, first)
	other := finished("other", 0, 1)
	other.PID = 900
	other.Write(t, spool)
	emptied(t, spool)
	cancel()
	require.Empty(t, <-done)
	require.Len(t, collected(t, s, pod(0)), 2)
}

// Pods that began, or failed, at the same time upload at different times.
func TestPodsSpreadTheirUploads(t *testing.T) {
	const pods, rounds = 1000, 4
	var tries [rounds][20]int
	for range pods {
		var b backoff
		at := time.Duration(0)
		for round := range rounds {
			before := time.Now()
			b.failed()
			at += b.until.Sub(before)
			tries[round][min(int(at/time.Second), 19)]++
		}
	}
	for round := 2; round < rounds; round++ { // 1, 2 and 4 s
		for second, n := range tries[round] {
			require.Less(t, n, pods*2/3, "second %d of round %d", second, round)
		}
	}
	var uploads [30]int
	for range pods {
		at := between(DefaultCheckpoint/2, DefaultCheckpoint)
		for range 10 {
			at += between(DefaultCheckpoint*3/4, DefaultCheckpoint)
		}
		uploads[int(at/time.Second)%30]++
	}
	for second, n := range uploads {
		require.Less(t, n, pods/10, "second %d", second)
	}
}
