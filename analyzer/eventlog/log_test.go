package eventlog_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/cairn-mpi/cairn/analyzer/eventlog"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestCallsComeBackFromTheFile: the same with a part of the event log, or all of it, in the
// temporary file.
func TestCallsComeBackFromTheFile(t *testing.T) {
	for _, held := range []int64{0, 10_000} {
		undo := eventlog.LimitMemory(held)
		t.Run(fmt.Sprint(held), TestCallsComeBackAsTheyWere)
		undo()
	}
}

// TestCallsComeBackAsTheyWere: for all simulated programs the calls of each location are read as
// recorded, and the number of dependents of each call is right.
func TestCallsComeBackAsTheyWere(t *testing.T) {
	for _, pattern := range simulate.Names() {
		trace := timeline.Of(tracetest.Open(t, tracetest.Simulated(t, simulate.Config{
			Pattern: pattern, Ranks: 16, Iterations: 20, Bytes: 20_000, Imbalance: simulate.Imbalance{Noise: 30},
		})))
		j, err := eventlog.Record(context.Background(), trace, nil)
		require.NoError(t, err)
		posted, referred := map[match.EventID]int{}, map[match.EventID]int{}
		for i, l := range timeline.Locations(trace) {
			var expected, got []timeline.Record
			require.NoError(t, timeline.EachOf(context.Background(), trace, i, l, nil, func(c *timeline.Call) error {
				expected = append(expected, c.Record)
				return nil
			}))
			r, ordinal := j.Read(i), uint32(0)
			for range j.Slabs {
				for r.Next() {
					got = append(got, r.Record)
					if r.Posted {
						ordinal++
						posted[match.EventID{Location: int32(i), Ordinal: ordinal}] = r.Dependents()
					}
					if !r.Completes {
						continue
					}
					_, depends := r.Completion()
					for _, d := range depends {
						if d.On.Ordinal > 0 {
							referred[d.On]++
						}
					}
				}
			}
			require.NoError(t, r.Err())
			require.Equal(t, expected, got, "%s, location %d", pattern, i)
		}
		for on, n := range posted {
			require.Equal(t, referred[on], n, "%s: %v", pattern, on)
		}
		for on := range referred {
			_, told := posted[on]
			require.True(t, told, "%s: %v", pattern, on)
		}
		j.Close()
	}
}

// TestSpoolUsesAFile: chunks beyond the memory limit are read back from the file.
func TestSpoolUsesAFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := eventlog.NewSpool(6)
	defer s.Close()
	var chunks []eventlog.Chunk
	words := []string{"first", "second", "x", "", "third"}
	for _, w := range words {
		chunks = append(chunks, s.Put([]byte(w)))
	}
	var buffer []byte
	for i, w := range words {
		b, err := s.Get(chunks[i], buffer)
		require.NoError(t, err)
		assert.Equal(t, w, string(b))
	}
}

// TestSpoolCompresses: chunks of all sizes, in memory and in the file, are read back unchanged, and
// repetitive data takes little space in the file.
func TestSpoolCompresses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	random := rand.New(rand.NewPCG(3, 4))
	s := eventlog.NewSpool(1 << 16)
	defer s.Close()
	var chunks []eventlog.Chunk
	var want [][]byte
	sum := 0
	for range 500 {
		b := make([]byte, random.IntN(1<<13))
		for i := range b {
			switch {
			case i < 64 || random.IntN(200) == 0:
				b[i] = byte(random.Uint32())
			default:
				b[i] = b[i-64]
			}
		}
		want, chunks = append(want, b), append(chunks, s.Put(b))
		sum += len(b)
	}
	assert.Greater(t, s.FileSize(), int64(0))
	assert.Less(t, s.FileSize(), int64(sum/4))
	var buffer []byte
	for _, i := range random.Perm(len(want)) {
		b, err := s.Get(chunks[i], buffer)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want[i], b))
		if !s.InMemory(chunks[i]) {
			buffer = b
		}
	}
	require.NoError(t, s.Err())
}

// TestSpoolReportsDamage: a file that others have overwritten is an error, also for later calls of
// Err.
func TestSpoolReportsDamage(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := eventlog.NewSpool(0)
	defer s.Close()
	c := s.Put(bytes.Repeat([]byte("again "), 100))
	require.NoError(t, s.Overwrite([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}))
	_, err := s.Get(c, nil)
	require.Error(t, err)
	require.Error(t, s.Err())
}

// TestSpoolWithoutAFile: where there can be no file, everything stays in memory.
func TestSpoolWithoutAFile(t *testing.T) {
	t.Setenv("TMPDIR", "/does/not/exist")
	s := eventlog.NewSpool(0)
	defer s.Close()
	b, err := s.Get(s.Put([]byte("word")), nil)
	require.NoError(t, err)
	assert.Equal(t, "word", string(b))
}

// TestSpoolTakesFromMany: several goroutines may put and read chunks at the same time.
func TestSpoolTakesFromMany(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := eventlog.NewSpool(1000)
	defer s.Close()
	var group errgroup.Group
	for i := range 8 {
		group.Go(func() error {
			for k := range 200 {
				want := bytes.Repeat([]byte{byte(i), byte(k)}, 10)
				got, err := s.Get(s.Put(want), nil)
				if err != nil {
					return err
				}
				if !bytes.Equal(got, want) {
					return fmt.Errorf("%v has become %v", want, got)
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	assert.Greater(t, s.FileSize(), int64(0))
}
