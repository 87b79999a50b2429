package collect_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/store"
)

// A spy counts the requests to a store, and fails from some number of writes on.
type spy struct {
	store.Store
	gets, puts atomic.Int64
	failAfter  int64 // writes; 0: never
}

var errKilled = errors.New("killed")

func (s *spy) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasPrefix(key, "shards/") && strings.HasSuffix(key, ".cairn") {
		s.gets.Add(1)
	}
	return s.Store.Get(ctx, key)
}

func (s *spy) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if n := s.puts.Add(1); s.failAfter > 0 && n > s.failAfter {
		return errKilled
	}
	return s.Store.Put(ctx, key, r, size)
}

func simulated(t *testing.T, patterns ...string) *spy {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.S3Options{})
	require.NoError(t, err)
	for _, pattern := range patterns {
		sim, err := simulate.New(simulate.Config{Pattern: pattern, Ranks: 64, RanksPerNode: 4, Iterations: 6})
		require.NoError(t, err)
		_, err = shards.Upload(t.Context(), s, sim, nil)
		require.NoError(t, err)
	}
	return &spy{Store: s}
}

func object(t *testing.T, s store.Store, key string) []byte {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	require.NoError(t, err)
	defer r.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(r)
	require.NoError(t, err)
	return b.Bytes()
}

// tree merges a job with a fan-in, level by level.
func tree(t *testing.T, s store.Store, fanIn int) *collect.Result {
	t.Helper()
	o := collect.Options{FanIn: fanIn}
	result, err := collect.Merge(t.Context(), s, o)
	require.NoError(t, err)
	levels := result.Levels
	for k, parts := range levels {
		for index := range parts {
			result, err = collect.Step(t.Context(), s, k+1, index, o)
			require.NoError(t, err)
		}
	}
	return result
}

// For any fan-in, a tree writes the same bytes and messages as the single process, and cleans up.
func TestTreeIsTheSingleProcess(t *testing.T) {
	for _, pattern := range []string{"irregular", "master-worker", "two-phase"} {
		single := simulated(t, pattern, "stencil3d") // two worlds
		want, err := collect.Merge(t.Context(), single, collect.Options{})
		require.NoError(t, err)
		require.Len(t, want.Runs, 2)
		for _, fanIn := range []int{2, 3, 5, 15} {
			if testing.Short() && fanIn != 3 {
				continue
			}
			t.Run(fmt.Sprintf("%s-%d", pattern, fanIn), func(t *testing.T) {
				s := simulated(t, pattern, "stencil3d")
				got := tree(t, s, fanIn)
				require.Len(t, got.Runs, 2)
				for i := range want.Runs {
					got.Runs[i].TraceURI = want.Runs[i].TraceURI
					for _, file := range []string{"/trace.cairn", "/manifest.json"} {
						key := want.Runs[i].ID + file
						require.True(t, bytes.Equal(object(t, single, key), object(t, s, key)), key)
					}
				}
				require.Equal(t, want, got)
				left, err := s.List(t.Context(), "merge/")
				require.NoError(t, err)
				require.Len(t, left, 2, "the plan and the result: %v", left)
				// the last step, asked again, says the same
				again, err := collect.Step(t.Context(), s, levels(t, s, fanIn), 0, collect.Options{FanIn: fanIn})
				require.NoError(t, err)
				for i := range again.Runs {
					again.Runs[i].TraceURI = want.Runs[i].TraceURI
				}
				require.Equal(t, want, again)
			})
		}
	}
}

func levels(t *testing.T, s store.Store, fanIn int) int {
	t.Helper()
	r, err := collect.Merge(t.Context(), s, collect.Options{FanIn: fanIn})
	require.NoError(t, err)
	return len(r.Levels)
}

func TestLevels(t *testing.T) {
	s := simulated(t, "ring") // 16 shards
	for fanIn, want := range map[int][]int{0: nil, 16: nil, 15: {2, 1}, 4: {4, 1}, 3: {6, 2, 1}, 2: {8, 4, 2, 1}} {
		r, err := collect.Merge(t.Context(), s, collect.Options{FanIn: fanIn})
		require.NoError(t, err)
		require.Equal(t, want, r.Levels, "fan-in %d", fanIn)
		require.Equal(t, want == nil, len(r.Runs) == 1)
	}
}

// A part that was killed at any point is repeated, and only that part: complete ones are not made
// again.
func TestKilledPartRepeatsOnlyItself(t *testing.T) {
	o := collect.Options{FanIn: 4}
	s := simulated(t, "irregular")
	planned, err := collect.Merge(t.Context(), s, o)
	require.NoError(t, err)
	require.Equal(t, []int{4, 1}, planned.Levels)
	for index := range 4 {
		if index == 1 { // before anything was written
			s.failAfter = s.puts.Load()
			_, err := collect.Step(t.Context(), s, 1, index, o)
			require.ErrorIs(t, err, errKilled)
			s.failAfter = 0
		}
		if index == 2 { // after its output, before its record
			s.failAfter = s.puts.Load() + 1
			_, err := collect.Step(t.Context(), s, 1, index, o)
			require.ErrorIs(t, err, errKilled)
			s.failAfter = 0
			continue
		}
		_, err := collect.Step(t.Context(), s, 1, index, o)
		require.NoError(t, err)
	}
	_, err = collect.Step(t.Context(), s, 2, 0, o)
	require.ErrorContains(t, err, "part 2 of level 1")
	s.gets.Store(0)
	s.puts.Store(0)
	for index := range 4 {
		_, err := collect.Step(t.Context(), s, 1, index, o)
		require.NoError(t, err)
	}
	require.EqualValues(t, 4, s.gets.Load(), "only the shards of the part that was killed are read again")
	require.EqualValues(t, 2, s.puts.Load(), "only its output and record are written")

	// a damaged output is made again, too
	objects, err := s.List(t.Context(), "merge/")
	require.NoError(t, err)
	for _, o := range objects {
		if strings.Contains(o.Key, "/0-1-") {
			require.NoError(t, s.Store.Put(t.Context(), o.Key, strings.NewReader("nonsense"), 8))
		}
	}
	s.gets.Store(0)
	for index := range 4 {
		_, err := collect.Step(t.Context(), s, 1, index, o)
		require.NoError(t, err)
	}
	require.EqualValues(t, 4, s.gets.Load())
	result, err := collect.Step(t.Context(), s, 2, 0, o)
	require.NoError(t, err)
	require.Empty(t, result.Problems)
	require.Equal(t, 64, result.Runs[0].Ranks)

	// the trace does not show any of this
	undisturbed := simulated(t, "irregular")
	_, err = collect.Merge(t.Context(), undisturbed, collect.Options{})
	require.NoError(t, err)
	for _, file := range []string{"0/0/trace.cairn", "0/0/manifest.json"} {
		require.True(t, bytes.Equal(object(t, undisturbed, file), object(t, s, file)), file)
	}
}

func TestStepsThatAreNone(t *testing.T) {
	s := simulated(t, "ring")
	o := collect.Options{FanIn: 4}
	_, err := collect.Step(t.Context(), s, 1, 0, o)
	require.ErrorContains(t, err, "plan")
	_, err = collect.Merge(t.Context(), s, o)
	require.NoError(t, err)
	_, err = collect.Step(t.Context(), s, 3, 0, o)
	require.ErrorContains(t, err, "levels 1 to 2")
	_, err = collect.Step(t.Context(), s, 1, 4, o)
	require.ErrorContains(t, err, "no part 4")
}
