package shipper

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/merger"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/shipper/spooltest"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// chainOf reads a shard and the parts before it.
func chainOf(t *testing.T, s store.Store, id Identity, dir string, m shard.Manifest) []byte {
	t.Helper()
	keys := []string{}
	for _, p := range m.Parts {
		keys = append(keys, shard.PartKey(id.PodUID, p.Name))
	}
	var all []byte
	for _, key := range append(keys, shard.Directory(id.PodUID, dir)+m.Shard) {
		r, err := s.Get(context.Background(), key)
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		all = append(all, b...)
	}
	return all
}

// merged is the trace of all shards of a pod, and the size of the shards without and with the parts
// before them.
func merged(t *testing.T, s store.Store, id Identity) (whole []byte, tails, all int64) {
	t.Helper()
	var m merger.Merger
	for dir, manifest := range manifests(t, s, id) {
		require.True(t, manifest.Final)
		chain := chainOf(t, s, id, dir, manifest)
		all += int64(len(chain))
		r, err := trace.Open(bytes.NewReader(chain), int64(len(chain)))
		require.NoError(t, err)
		c, err := r.StreamedContent()
		require.NoError(t, err)
		require.NoError(t, m.Add(c))
		tails += manifest.Bytes
	}
	contents, err := m.Finish(merger.Options{Final: true})
	require.NoError(t, err)
	require.Len(t, contents, 1)
	var b bytes.Buffer
	require.NoError(t, trace.Write(&b, contents[0]))
	return b.Bytes(), tails, all
}

// A longRun is ranks that make many calls.
type longRun struct {
	ranks     []*spooltest.Process
	long      []*spooltest.Long
	program   program
	irregular *rand.Rand
}

// A program is what ranks call.
type program int

const (
	repeats      program = iota // the same again and again
	otherValues                 // one function, no two calls with the same arguments
	withoutOrder                // a few calls, in an order that has no rule
)

func beginLong(t *testing.T, spool string, p program) *longRun { return beginRanks(t, spool, p, 2) }

func beginRanks(t *testing.T, spool string, p program, ranks int) *longRun {
	r := longRun{program: p, irregular: rand.New(rand.NewPCG(1, 2))}
	for rank := range ranks {
		p := spooltest.New("long", rank, ranks)
		r.ranks = append(r.ranks, p)
		r.long = append(r.long, p.Begin(t, spool))
		p.Init()
		r.long[rank].Repeat(1)
	}
	return &r
}

// some makes some calls on each rank.
func (r *longRun) some(turns int) {
	for rank, p := range r.ranks {
		to := (rank + 1) % len(r.ranks)
		if r.program != repeats {
			for range 2 * turns {
				switch {
				case r.program == otherValues:
					p.Send(r.irregular.IntN(1<<30), to)
				case r.irregular.IntN(3) == 0:
					p.Barrier()
				default:
					p.Send(r.irregular.IntN(4), to)
				}
				r.long[rank].Repeat(1)
			}
			continue
		}
		p.Send(4, to).Barrier().Send(8, to)
		r.long[rank].Repeat(turns)
	}
}

func (r *longRun) end() {
	for rank, p := range r.ranks {
		p.Finalize()
		r.long[rank].Repeat(1)
	}
}

// The calls of a long job go to the store while it runs. With a sidecar that is killed at any
// request, and another one that continues, the trace is the same, byte for byte, as that of a spool
// that is shipped at the end.
func TestTimesGoToTheStoreWhileRanksGoOn(t *testing.T) {
	t.Parallel()
	goesToTheStore(t, repeats)
}

// The same for a job whose arguments never repeat.
func TestValuesGoToTheStoreWhileRanksGoOn(t *testing.T) {
	t.Parallel()
	goesToTheStore(t, otherValues)
}

// The same for a job whose calls have no order: their chapters leave the spool, and no shard
// contains them again.
func TestChaptersGoToTheStoreWhileRanksGoOn(t *testing.T) {
	t.Parallel()
	goesToTheStore(t, withoutOrder)
}

func goesToTheStore(t *testing.T, program program) {
	turns := 100_000
	switch {
	case testing.Short() && program == repeats:
		turns = 50_000
	case testing.Short() && program == otherValues:
		turns = 30_000
	}
	plain := t.TempDir()
	run := beginLong(t, plain, program)
	for range 5 {
		run.some(turns)
	}
	run.end()
	s := openStore(t)
	shipPatiently(t, plain, s, maxPack)
	want, _, all := merged(t, s, pod(0))

	requests := []int{3, 10, 17}
	switch {
	case testing.Short() && program == repeats:
		requests = []int{3, 17}
	case testing.Short():
		requests = []int{10}
	case program == repeats:
		requests = append(requests, 24, 31, 38, 45, 52, 59)
	}
	for _, n := range requests {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			spool, s := t.TempDir(), openStore(t)
			run := beginLong(t, spool, program)
			var ends []func()
			for _, l := range run.long {
				ends = append(ends, spooltest.Hold(t, l.Directory))
			}
			dying := &steps{Store: s, left: n, dead: make(chan struct{})}
			options := quick(t, spool, dying, pod(0))
			options.Logf, options.Grace = nil, patient
			kill := killed(t, options)
			for range 3 {
				run.some(turns)
				time.Sleep(100 * time.Millisecond)
			}
			select {
			case <-dying.dead:
			case <-time.After(time.Second): // it makes fewer requests
			}
			kill()
			run.some(turns)
			options.Store = s
			stop := running(t, options)
			parts := func() (n int) {
				objects, err := s.List(context.Background(), shard.Root)
				require.NoError(t, err)
				for _, o := range objects {
					if shard.KindOf(o.Key) == shard.KindPart {
						n++
					}
				}
				return n
			}
			eventually(t, "parts are in the store, and not in the spool", func() bool {
				local, err := filepath.Glob(filepath.Join(spool, "*", "part-*"))
				require.NoError(t, err)
				stored, err := filepath.Glob(filepath.Join(spool, "*", "stored-*"))
				require.NoError(t, err)
				return parts() > 0 && len(stored) > 0 && len(local) <= 2
			})
			if program == withoutOrder {
				eventually(t, "chapters have left the spool", func() bool {
					chapters, err := filepath.Glob(filepath.Join(spool, "*", "chapters-*"))
					require.NoError(t, err)
					// of each rank one may wait for times, and one is not full
					return len(chapters) <= 4
				})
			}
			run.some(turns)
			run.end()
			for _, end := range ends {
				end()
			}
			emptied(t, spool)
			require.Empty(t, stop())
			got, tails, _ := merged(t, s, pod(0))
			require.True(t, bytes.Equal(want, got), "%d and %d bytes", len(want), len(got))
			require.Less(t, tails, all*3/4)
		})
	}
}

// Parts that the store claims to have but lacks stay in the spool.
func TestPartsStayUntilTheStoreHasProvedToHaveThem(t *testing.T) {
	t.Parallel()
	spool := t.TempDir()
	run := beginLong(t, spool, repeats)
	run.some(200_000)
	for _, l := range run.long {
		spooltest.Hold(t, l.Directory)
	}
	s := &halfParts{openStore(t)}
	options := quick(t, spool, s, pod(0))
	options.Logf = nil
	running(t, options)
	eventually(t, "parts", func() bool { return sizes(t, filepath.Join(spool, "*", "part-*")) > leastParts })
	time.Sleep(500 * time.Millisecond)
	stored, err := filepath.Glob(filepath.Join(spool, "*", "stored-*"))
	require.NoError(t, err)
	require.Empty(t, stored)
	require.Empty(t, manifests(t, s, pod(0)))
	_, err = os.Stat(filepath.Join(run.long[0].Directory, "part-0"))
	require.NoError(t, err)
}

// halfParts keeps half of each object with parts.
type halfParts struct{ store.Store }

func (h *halfParts) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if shard.KindOf(key) == shard.KindPart {
		r, size = io.LimitReader(r, size/2), size/2
	}
	return h.Store.Put(ctx, key, r, size)
}

// An object with times that was deleted: that is reported once, sums replace its times, and
// everything else continues, whether the sidecar is the one that put it or a later one.
func TestObjectThatTheStoreLoses(t *testing.T) {
	t.Parallel()
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprint(again), func(t *testing.T) {
			t.Parallel()
			spool, s := t.TempDir(), openStore(t)
			run := beginLong(t, spool, repeats)
			var ends []func()
			for _, l := range run.long {
				ends = append(ends, spooltest.Hold(t, l.Directory))
			}
			o := quick(t, spool, s, pod(0))
			o.Logf, o.Grace = nil, patient
			stop := killed(t, o)
			objects := func() (keys []string) {
				list, err := s.List(context.Background(), shard.Root)
				require.NoError(t, err)
				for _, object := range list {
					if shard.KindOf(object.Key) == shard.KindPart {
						keys = append(keys, object.Key)
					}
				}
				return keys
			}
			run.some(200_000)
			eventually(t, "times are in the store", func() bool { return len(objects()) > 0 })
			eventually(t, "they left the spool", func() bool {
				stored, err := filepath.Glob(filepath.Join(spool, "*", "stored-*"))
				require.NoError(t, err)
				return len(stored) > 0
			})
			if again {
				stop()
			}
			gone := objects()[0]
			require.NoError(t, s.Delete(context.Background(), gone))
			if again {
				stop = killed(t, o)
			}
			run.some(100_000)
			run.end()
			for _, end := range ends {
				end()
			}
			emptied(t, spool)
			stop() // perhaps before it has tidied the store up
			require.Empty(t, running(t, o)())
			c := mergedContent(t, s, pod(0))
			require.NotEmpty(t, c.Coarse())
			for _, th := range c.Threads.All() {
				gaps, durations, err := th.Times()
				require.NoError(t, err)
				ticks := int64(0)
				for i := range gaps {
					ticks += gaps[i] + durations[i]
				}
				require.Equal(t, th.EndTick-th.FirstTick, ticks)
				require.EqualValues(t, th.Calls, len(gaps))
			}
			said := 0
			for _, problem := range readPod(t, s, pod(0)).Problems {
				if strings.Contains(problem, "the storage has lost") && strings.Contains(problem, gone) {
					said++
				}
			}
			require.Equal(t, 1, said)
		})
	}
}
