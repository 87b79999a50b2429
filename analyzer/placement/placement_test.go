package placement_test

import (
	"bytes"
	"context"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/placement"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// exchange returns ranks on nodes that send to each other: peers returns those of rank i, node the
// node of rank i.
func exchange(ranks, rounds int, peers func(i int) []int, node func(i int) string) *tracetest.Builder {
	b := tracetest.New(ranks)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Info().Node, r.Info().Host = node(i), "pod-"+node(i)
		r.At("x.c:1").Init(0, 1)
		for k := range rounds {
			now := float64(2 + k)
			for _, peer := range peers(i) {
				r.At("x.c:2").Call("MPI_Send", now, now+0.1, tracetest.Args{"dest": peer, "count": 1000, "datatype": "MPI_DOUBLE"})
			}
			for _, peer := range peers(i) {
				r.At("x.c:3").Recv(now+0.1, now+0.2, peer, 8000)
			}
		}
		r.At("x.c:4").Finalize(100, 101)
	})
	return b
}

func analyze(t *testing.T, b *tracetest.Builder) (placement.Findings, timeline.Trace) {
	t.Helper()
	r := timeline.Of(b.Open(t))
	clocks, err := clock.Analyze(context.Background(), r)
	require.NoError(t, err)
	f, err := placement.Analyze(context.Background(), r, placement.Options{Clocks: clocks.Clocks})
	require.NoError(t, err)
	return f, r
}

func isPermutation(t *testing.T, order []int) {
	t.Helper()
	for i, x := range slices.Sorted(slices.Values(order)) {
		require.Equal(t, i, x)
	}
}

// Containers of one machine have different host names but one boot id: nothing crosses nodes.
func TestHostsOfOneMachineAreOneNode(t *testing.T) {
	b := exchange(8, 20, func(i int) []int { return []int{i ^ 1} }, func(i int) string { return []string{"a", "b"}[i%2] })
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Info().Node, r.Info().BootID = "", "boot" })
	f, _ := analyze(t, b)
	assert.Equal(t, "All ranks run on one node.", f.Text)
	assert.Equal(t, []placement.Node{{Name: "pod-a", Ranks: "0-7"}}, f.Nodes)
	assert.Zero(t, f.Crossing)
}

// Pairs that are split over two nodes, round robin, are brought together: no traffic crosses.
func TestPairsAreBroughtTogether(t *testing.T) {
	f, r := analyze(t, exchange(8, 20, func(i int) []int { return []int{i ^ 1} }, func(i int) string { return []string{"a", "b"}[i%2] }))
	assert.EqualValues(t, 8*20*8000, f.Bytes)
	assert.Equal(t, f.Bytes, f.Crossing)
	assert.Zero(t, f.Predicted)
	require.Len(t, f.Order, 8)
	isPermutation(t, f.Order)
	require.Len(t, f.Proposed, 2)
	for _, node := range f.Proposed {
		require.Len(t, strings.Split(node.Ranks, ","), 2, "two pairs on %s: %s", node.Name, node.Ranks)
	}
	require.NotNil(t, f.Gain)
	assert.Positive(t, *f.Gain)
	assert.Contains(t, f.Text, "100% of the bytes cross nodes; with the ranks in another order it would be 0%, and the run")

	var rankfile, hosts bytes.Buffer
	require.NoError(t, f.WriteRankfile(&rankfile, r))
	require.NoError(t, f.WriteHosts(&hosts, r))
	lines := strings.Split(strings.TrimSpace(rankfile.String()), "\n")
	require.Len(t, lines, 8)
	for i := 0; i < 8; i += 2 {
		name := func(line string) string { return line[strings.Index(line, "=")+1 : strings.Index(line, " slot")] }
		assert.Equal(t, name(lines[i]), name(lines[i+1]), "both of a pair are on one node")
	}
	assert.Equal(t, 4, strings.Count(rankfile.String(), "pod-a"))
	total := 0
	for _, line := range strings.Fields(hosts.String()) {
		total += int(line[len(line)-1] - '0')
	}
	assert.Equal(t, 8, total)
}

// A grid whose rows are distributed over four nodes is reordered in blocks.
func TestGridGetsBlocks(t *testing.T) {
	const n = 8
	peers := func(i int) []int {
		var list []int
		for _, o := range [][2]int{{0, 1}, {0, -1}, {1, 0}, {-1, 0}} {
			if y, x := i/n+o[0], i%n+o[1]; min(x, y) >= 0 && max(x, y) < n {
				list = append(list, y*n+x)
			}
		}
		return list
	}
	f, _ := analyze(t, exchange(n*n, 2, peers, func(i int) string { return string(rune('a' + i%4)) }))
	isPermutation(t, f.Order)
	// four blocks of 4 x 4 have 16 edges between them; the best of a heuristic is near
	assert.LessOrEqual(t, f.PredictedMessages, uint64(2*2*24))
	assert.Greater(t, f.CrossingMessages, uint64(2*2*50))
}

// Rows of an 8 x 8 grid on nodes of 8, as launchers place them, have 56 of 112 edges between nodes.
// Blocks of 2 x 4 have 32.
func TestRowsOfAGridBecomeBlocks(t *testing.T) {
	const n = 8
	peers := func(i int) (list []int) {
		for _, o := range [][2]int{{0, 1}, {0, -1}, {1, 0}, {-1, 0}} {
			if y, x := i/n+o[0], i%n+o[1]; min(x, y) >= 0 && max(x, y) < n {
				list = append(list, y*n+x)
			}
		}
		return list
	}
	f, _ := analyze(t, exchange(n*n, 1, peers, func(i int) string { return string(rune('a' + i/n)) }))
	assert.EqualValues(t, 2*56, f.CrossingMessages)
	assert.EqualValues(t, 2*32, f.PredictedMessages)
	assert.Contains(t, f.Text, "50% of the bytes cross nodes; with the ranks in another order it would be 29%")
	isPermutation(t, f.Order)
}

// A good order is kept, and no order is ever worse.
func TestNeverWorse(t *testing.T) {
	good, _ := analyze(t, exchange(8, 2, func(i int) []int { return []int{i ^ 1} }, func(i int) string { return []string{"a", "b"}[i/4] }))
	assert.Empty(t, good.Order)
	assert.Equal(t, "No message goes from one node to another.", good.Text)
	alone, _ := analyze(t, exchange(4, 2, func(i int) []int { return []int{i ^ 1} }, func(int) string { return "a" }))
	assert.Equal(t, "All ranks run on one node.", alone.Text)
	for seed := range int64(20) {
		random := rand.New(rand.NewSource(seed))
		ranks := 6 + random.Intn(20)
		peers, nodes := make([][]int, ranks), make([]string, ranks)
		for range 2 * ranks {
			if a, b := random.Intn(ranks), random.Intn(ranks); a != b {
				peers[a], peers[b] = append(peers[a], b), append(peers[b], a)
			}
		}
		for i := range nodes {
			nodes[i] = string(rune('a' + random.Intn(4)))
		}
		f, _ := analyze(t, exchange(ranks, 1, func(i int) []int { return peers[i] }, func(i int) string { return nodes[i] }))
		assert.LessOrEqual(t, f.Predicted, f.Crossing)
		if len(f.Order) > 0 {
			require.Len(t, f.Order, ranks)
			isPermutation(t, f.Order)
		}
	}
}

// Messages without bytes (signals, or of a datatype of unknown size) are reported as messages.
func TestMessagesWithoutBytes(t *testing.T) {
	b := tracetest.New(8)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Info().Node = []string{"a", "b"}[i%2]
		r.At("x.c:1").Init(0, 1)
		for k := range 20 {
			now := float64(2 + k)
			r.At("x.c:2").Call("MPI_Send", now, now+0.1, tracetest.Args{"dest": i ^ 1, "count": 0, "datatype": "MPI_DOUBLE"}).At("x.c:3").Recv(now+0.1, now+0.2, i^1, 0)
		}
		r.At("x.c:4").Finalize(100, 101)
	})
	f, _ := analyze(t, b)
	assert.Contains(t, f.Text, "100% of the messages cross nodes; with the ranks in another order it would be 0%")
}
