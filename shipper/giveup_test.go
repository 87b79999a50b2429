package shipper

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/cairn-mpi/cairn/tracer/budget"
)

// A store that is unavailable at random times, while the ranks fill the spool to its limit: all
// calls are recorded once, the trace reports where there are only sums, all other times are exact,
// and so are those of calls after the store came back.
func TestTimesAreGivenUpBeforeCalls(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20
	seeds := uint64(2)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 91))
		spool, s := t.TempDir(), &unreliable{Store: openStore(t)}
		root, err := os.OpenRoot(spool)
		require.NoError(t, err)
		account, err := budget.Make(root, limit)
		require.NoError(t, err)
		var long []*spooltest.Long
		var ranks []*spooltest.Process
		var ends []func()
		for rank := range 2 {
			p := spooltest.New("full", rank, 2)
			p.Shared = true
			l := p.Begin(t, spool)
			l.Jitter = 1 << 24
			p.Init()
			l.Repeat(1)
			ranks, long, ends = append(ranks, p), append(long, l), append(ends, spooltest.Hold(t, l.Directory))
		}
		o := quick(t, spool, s, pod(0))
		o.SpoolLimit, o.Logf, o.Grace = limit, nil, patient
		stop := running(t, o)
		calls := uint64(2) // MPI_Init of each
		auditor := budget.Auditor{Budget: account}
		play := func(turns int) {
			for ; turns > 0; turns -= 5_000 {
				n := min(turns, 5_000)
				for rank, p := range ranks {
					p.Send(4, 1-rank).Barrier().Send(8, 1-rank)
					long[rank].Repeat(n)
					calls += 3 * uint64(n)
				}
				// real ranks are slower
				eventually(t, "the logs are coded, and there is room", func() bool {
					left, _, err := auditor.Left()
					return err == nil && waiting(spool) < 5<<20 && left >= limit/4
				})
			}
			require.LessOrEqual(t, treeSize(spool), int64(limit))
		}
		coarse := func() (n int) {
			for _, l := range long {
				n += coarseParts(t, spool, l.Directory)
			}
			return n
		}
		play(20_000 + random.IntN(30_000))
		s.set(true)
		for n := 0; coarse() < 2+random.IntN(3); n++ {
			require.Less(t, n, 200, "times are given up")
			play(10_000 + random.IntN(30_000))
			if random.IntN(6) == 0 { // it comes back for a moment
				s.set(false)
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				s.set(true)
			}
		}
		s.set(false)
		stored := func() bool { return partBytes(t, spool) < leastParts }
		eventually(t, "the store has what is worth an object", stored)
		given := coarse()
		for range 3 {
			play(30_000)
			eventually(t, "the store has what is worth an object", stored)
		}
		require.LessOrEqual(t, coarse(), given, "nothing more is given up")
		for rank, p := range ranks {
			p.Finalize()
			long[rank].Repeat(1)
			calls++
			ends[rank]()
		}
		emptied(t, spool)
		require.Empty(t, stop())
		require.Zero(t, account.Refused())
		content := mergedContent(t, s, pod(0))
		requireCallsAndClock(t, content, calls)
		require.Zero(t, content.Ranks.At(0).Dropped+content.Ranks.At(1).Dropped)
		require.NotEmpty(t, content.Coarse())
	}
}

// requireCallsAndClock checks that all calls are there, that times and sums together are all ticks,
// and that the last calls have their own times.
func requireCallsAndClock(t *testing.T, content *trace.Content, calls uint64) {
	t.Helper()
	var found uint64
	for _, th := range content.Threads.All() {
		found += th.Calls
		gaps, durations, err := th.Times()
		require.NoError(t, err)
		ticks := int64(0)
		for i := range gaps {
			ticks += gaps[i] + durations[i]
		}
		require.Equal(t, th.EndTick-th.FirstTick, ticks, "the clock goes on as it did")
		for _, c := range content.Coarse() {
			require.Less(t, c.To, th.Calls-timing.BlockCalls, "the last calls have their times")
		}
	}
	require.Equal(t, calls, found)
}

// partBytes is the size of the parts that are in the spool.
func partBytes(t *testing.T, spool string) (bytes int64) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(spool, "*", "part-*"))
	require.NoError(t, err)
	for _, part := range parts {
		bytes += treeSize(part)
	}
	return bytes
}

// coarseParts counts the parts with sums that are in the spool only.
func coarseParts(t *testing.T, spool, dir string) (n int) {
	t.Helper()
	s := newScanner(spool)
	processes, err := s.scan()
	require.NoError(t, err)
	for _, p := range processes {
		if p.dir != dir {
			continue
		}
		d, err := p.open()
		require.NoError(t, err)
		parts, err := d.LocalParts()
		d.Close()
		if err != nil {
			return 0 // the sidecar changes them now
		}
		for _, part := range parts {
			if part.Per > 0 {
				n++
			}
		}
	}
	return n
}

// mergedContent is the trace of all shards of a pod.
func mergedContent(t *testing.T, s store.Store, id Identity) *trace.Content {
	t.Helper()
	var m merger.Merger
	for dir, manifest := range manifests(t, s, id) {
		require.True(t, manifest.Final)
		chain := chainOf(t, s, id, dir, manifest)
		r, err := trace.Open(bytes.NewReader(chain), int64(len(chain)))
		require.NoError(t, err)
		c, err := r.StreamedContent()
		require.NoError(t, err)
		require.NoError(t, m.Add(c))
	}
	contents, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	require.Len(t, contents, 1)
	return contents[0]
}

// Times are given up when a quarter of the limit is left; of a small limit, when 8 MiB and a
// sixteenth are left, but not while half of it is.
func TestSpaceAtWhichTimesAreGivenUp(t *testing.T) {
	const mib = 1 << 20
	for limit, left := range map[int64]int64{
		1 * mib:    mib / 2,
		16 * mib:   8 * mib,
		32 * mib:   10 * mib,
		64 * mib:   16 * mib,
		1024 * mib: 256 * mib,
	} {
		require.Equal(t, left, littleLeft(limit), limit)
	}
}
