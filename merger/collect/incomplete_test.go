package collect_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/simulate/shards"
	"github.com/cairn-mpi/cairn/merger/collect"
	"github.com/cairn-mpi/cairn/shipper/shard"
	"github.com/cairn-mpi/cairn/store"
	"github.com/cairn-mpi/cairn/trace"
)

// Incomplete input: what is missing is named in the result, the run's manifest and the trace. The
// rest is merged, with equal results of one process and of a tree.

// pods uploads the pods of a ring of 12 ranks, three in each, but for one.
func pods(t *testing.T, without int) store.Store {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.S3Options{})
	require.NoError(t, err)
	sim, err := simulate.New(simulate.Config{Pattern: "ring", Ranks: 12, RanksPerNode: 3})
	require.NoError(t, err)
	_, err = shards.Upload(t.Context(), s, sim, func(pod int) bool { return pod != without })
	require.NoError(t, err)
	return s
}

// shardOf finds the shard of a pod.
func shardOf(t *testing.T, s store.Store, pod string) (key string, content []byte) {
	t.Helper()
	objects, err := s.List(t.Context(), shard.Directory(pod, ""))
	require.NoError(t, err)
	for _, o := range objects {
		if shard.KindOf(o.Key) == shard.KindShard {
			return o.Key, object(t, s, o.Key)
		}
	}
	t.Fatalf("no shard of %s", pod)
	return "", nil
}

func put(t *testing.T, s store.Store, key string, content []byte) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), key, bytes.NewReader(content), int64(len(content))))
}

// both merges by one process and by a tree, which must agree, and opens the trace.
func both(t *testing.T, s store.Store) (*collect.Result, collect.RunManifest, *trace.Reader) {
	t.Helper()
	want, err := collect.Merge(t.Context(), s, collect.Options{})
	require.NoError(t, err)
	require.Len(t, want.Runs, 1)
	file := object(t, s, "0/0/trace.cairn")
	require.Equal(t, want, tree(t, s, 2))
	require.Equal(t, file, object(t, s, "0/0/trace.cairn"))
	var m collect.RunManifest
	require.NoError(t, json.Unmarshal(object(t, s, "0/0/manifest.json"), &m))
	r, err := trace.Open(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	return want, m, r
}

func TestMissingPodIsNamed(t *testing.T) {
	result, m, r := both(t, pods(t, 2))
	require.Equal(t, "6-8", result.Runs[0].MissingRanks)
	require.Equal(t, "6-8", m.MissingRanks)
	require.Equal(t, "6-8", r.Meta().MissingRanks.String())
	require.Equal(t, 9, r.Ranks().Len())
}

func TestRanksThatEndedEarlyAreListed(t *testing.T) {
	s := pods(t, -1)
	key, file := shardOf(t, s, "uid-node1")
	r, err := trace.Open(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	c, err := r.Content()
	require.NoError(t, err)
	c.Ranks.Change(0, func(r *trace.Rank) { r.EndedEarly = "killed in MPI_Sendrecv" })
	c.Ranks.Change(2, func(r *trace.Rank) { r.EndedEarly = "after MPI_Init" })
	var changed bytes.Buffer
	require.NoError(t, trace.Write(&changed, c))
	put(t, s, key, changed.Bytes())
	result, m, r := both(t, s)
	require.Equal(t, "3,5", result.Runs[0].EndedEarly)
	require.Equal(t, "3,5", m.EndedEarly)
	require.Equal(t, "killed in MPI_Sendrecv", r.Rank(3).EndedEarly)
	require.Empty(t, result.Runs[0].MissingRanks)
}

// An upload that was retried under another pod's name, the whole shard: counted once.
func TestRepeatedUploadIsNamed(t *testing.T) {
	s := pods(t, -1)
	once, _, _ := both(t, s)
	objects, err := s.List(t.Context(), "shards/uid-node1/")
	require.NoError(t, err)
	for _, o := range objects {
		put(t, s, strings.Replace(o.Key, "uid-node1", "uid-again", 1), object(t, s, o.Key))
	}
	result, _, _ := both(t, s)
	require.Len(t, result.Problems, 1)
	require.Contains(t, result.Problems[0], "ranks 3-5 are in shards/uid-again/")
	require.Contains(t, result.Problems[0], "they count once")
	require.Equal(t, once.Runs, result.Runs)
}

// A shard in the place of one of another world is left out, whatever the order.
func TestShardOfAnotherWorldIsNamed(t *testing.T) {
	other, err := simulate.New(simulate.Config{Pattern: "tree", Ranks: 12, RanksPerNode: 3})
	require.NoError(t, err)
	for pod, ranks := range map[int]string{0: "0-2", 3: "9-11"} {
		s := pods(t, -1)
		stray, err := shards.Pod(other, pod)
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, trace.Write(&file, stray))
		key, _ := shardOf(t, s, "uid-node"+string(rune('0'+pod)))
		put(t, s, key, file.Bytes())
		result, m, r := both(t, s)
		require.Equal(t, ranks, result.Runs[0].MissingRanks)
		require.Len(t, result.Problems, 1)
		require.Contains(t, result.Problems[0], `another MPI world, "tree-12"`)
		require.Contains(t, result.Problems[0], "ranks "+ranks)
		require.Equal(t, result.Problems, m.Problems)
		require.Equal(t, result.Problems, r.Meta().Notes)
	}
}

// Shards of two attempts, which differ in their world, become two runs.
func TestShardsOfAnotherAttemptAreARunOfTheirOwn(t *testing.T) {
	s := pods(t, -1)
	second, err := simulate.New(simulate.Config{Pattern: "tree", Ranks: 12, RanksPerNode: 3})
	require.NoError(t, err)
	_, err = shards.Upload(t.Context(), s, second, nil)
	require.NoError(t, err)
	result, err := collect.Merge(t.Context(), s, collect.Options{})
	require.NoError(t, err)
	require.Len(t, result.Runs, 2)
	for _, run := range result.Runs {
		require.Equal(t, 12, run.Ranks)
		require.Empty(t, run.MissingRanks)
	}
}

func TestShardOfAnotherVersionIsNamed(t *testing.T) {
	s := pods(t, -1)
	key, file := shardOf(t, s, "uid-node1")
	file[7] = 99
	put(t, s, key, file)
	result, m, r := both(t, s)
	require.Len(t, result.Problems, 1)
	require.Contains(t, result.Problems[0], "format version 99 is unknown")
	require.Contains(t, result.Problems[0], "ranks 3-5 of pod ring-worker-1")
	require.Equal(t, "3-5", m.MissingRanks)
	require.Equal(t, result.Problems, r.Meta().Notes)
}
