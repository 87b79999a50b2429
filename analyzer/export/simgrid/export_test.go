package simgrid_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/export/simgrid"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

func export(t *testing.T, tr timeline.Trace) (dir string, s simgrid.Summary) {
	t.Helper()
	dir = t.TempDir()
	s, err := simgrid.Write(context.Background(), dir, tr, simgrid.Options{})
	require.NoError(t, err)
	return dir, s
}

// actions are those of a rank, without its number.
func actions(t *testing.T, dir string, rank string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, rank+".ti"))
	require.NoError(t, err)
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		require.True(t, strings.HasPrefix(line, rank+" "), line)
		lines = append(lines, strings.TrimPrefix(line, rank+" "))
	}
	return lines
}

// on is the trace of two ranks that start at 0; the functions add the calls between MPI_Init,
// until 1, and MPI_Finalize, at 20.
func on(t *testing.T, n int, with func(b *tracetest.Builder), calls func(i int, r *tracetest.Rank)) timeline.Trace {
	t.Helper()
	b := tracetest.New(n)
	if with != nil {
		with(b)
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1)
		calls(i, r)
		r.Finalize(20, 21)
	})
	return timeline.Of(b.Open(t))
}

type args = tracetest.Args

func status(source, tag, bytes int) tracetest.Status {
	return tracetest.Status{Source: source, Tag: tag, Bytes: bytes}
}

// exports are calls between MPI_Init and MPI_Finalize, and the actions that they become.
var exports = []struct {
	name  string
	ranks int
	with  func(b *tracetest.Builder)
	calls func(i int, r *tracetest.Rank)
	want  map[string][]string // between MPI_Init and MPI_Finalize
	left  []simgrid.Omission
}{
	{
		name: "a wildcard receives what came", ranks: 2,
		calls: func(i int, r *tracetest.Rank) {
			if i == 0 {
				r.At("a.c:5").Call("MPI_Send", 3, 4, args{"dest": 1, "tag": 7})
				return
			}
			r.Call("MPI_Recv", 2, 5, args{"source": "MPI_ANY_SOURCE", "tag": "MPI_ANY_TAG", "status": status(0, 7, 64)})
		},
		want: map[string][]string{
			"0": {"compute 2000000", "location a.c 5", "send 1 7 64", "compute 16000000"},
			"1": {"compute 1000000", "recv 0 7 64", "compute 15000000"},
		},
	},
	{
		name: "what MPI_Waitany found", ranks: 2,
		calls: func(i int, r *tracetest.Rank) {
			if i == 0 {
				r.Call("MPI_Send", 3, 4, args{"dest": 1, "tag": 2}).Call("MPI_Send", 5, 6, args{"dest": 1, "tag": 1})
				return
			}
			r.Call("MPI_Irecv", 1, 1, args{"source": 0, "tag": 1, "request": tracetest.Request(0)})
			r.Call("MPI_Irecv", 1, 1, args{"source": 0, "tag": 2, "request": tracetest.Request(1)})
			r.Call("MPI_Waitany", 1, 4, args{"count": 2, "array_of_requests": tracetest.Requests{0, 1}, "index": 1, "status": status(0, 2, 8)})
			r.Call("MPI_Wait", 5, 7, args{"request": tracetest.Request(0), "status": status(0, 1, 4)})
		},
		want: map[string][]string{
			"0": {"compute 2000000", "send 1 2 8", "compute 1000000", "send 1 1 4", "compute 14000000"},
			"1": {"irecv 0 1 4", "irecv 0 2 8", "wait 0 1 2", "compute 1000000", "wait 0 1 1", "compute 13000000"},
		},
	},
	{
		name: "polls in vain are waiting", ranks: 2,
		calls: func(i int, r *tracetest.Rank) {
			if i == 0 {
				r.Call("MPI_Send", 3, 4, args{"dest": 1})
				return
			}
			r.Call("MPI_Irecv", 1, 1, args{"source": 0, "request": tracetest.Request(0)})
			r.Call("MPI_Test", 2, 2.05, args{"request": tracetest.Request(0), "flag": 0})
			r.Call("MPI_Test", 2.1, 4, args{"request": tracetest.Request(0), "flag": 1, "status": status(0, 0, 4)})
		},
		want: map[string][]string{
			"0": {"compute 2000000", "send 1 0 4", "compute 16000000"},
			"1": {"irecv 0 0 4", "compute 1000000", "wait 0 1 0", "compute 16000000"},
		},
	},
	{
		name: "collectives of all", ranks: 2,
		calls: func(_ int, r *tracetest.Rank) {
			r.Call("MPI_Barrier", 1, 2, nil)
			r.Call("MPI_Bcast", 2, 3, args{"root": 1, "count": 10, "datatype": "MPI_DOUBLE"})
			r.Call("MPI_Allreduce", 3, 4, args{"count": 2, "datatype": "MPI_INT"})
		},
		want: map[string][]string{
			"0": {"barrier", "bcast 80 1", "allreduce 8 0", "compute 16000000"},
			"1": {"barrier", "bcast 80 1", "allreduce 8 0", "compute 16000000"},
		},
	},
	{
		name: "collectives of some are messages", ranks: 3,
		with: func(b *tracetest.Builder) { b.Comm("pair", 2, 1) },
		calls: func(i int, r *tracetest.Rank) {
			if i > 0 {
				r.Call("MPI_Comm_create_group", 1, 1, args{"newcomm": tracetest.Comm(1)})
				r.Call("MPI_Bcast", 2, 4, args{"comm": tracetest.Comm(1), "root": 0, "count": 3, "datatype": "MPI_INT"})
			}
		},
		want: map[string][]string{
			"0": {"compute 19000000"},
			"1": {
				"irecv 2 2 2147483647", "isend 2 2 0", "wait 2 1 2", "wait 1 2 2", // MPI_Comm_create_group
				"compute 1000000", "irecv 2 2 2147483647", "wait 2 1 2", "compute 16000000",
			},
			"2": {
				"irecv 1 2 2147483647", "isend 1 2 0", "wait 1 2 2", "wait 2 1 2",
				"compute 1000000", "isend 1 2 12", "wait 2 1 2", "compute 16000000",
			},
		},
	},
	{
		name: "data of one-sided communication is left out", ranks: 2,
		calls: func(i int, r *tracetest.Rank) {
			if i == 0 {
				r.Call("MPI_Put", 2, 3, args{"target_rank": 1})
			}
		},
		want: map[string][]string{"0": {"compute 1000000", "compute 17000000"}, "1": {"compute 19000000"}},
		left: []simgrid.Omission{{What: "calls of MPI_Put", Count: 1}},
	},
}

func TestActions(t *testing.T) {
	for _, c := range exports {
		t.Run(c.name, func(t *testing.T) {
			dir, s := export(t, on(t, c.ranks, c.with, c.calls))
			assert.Equal(t, c.left, s.LeftOut)
			for rank, want := range c.want {
				want = append(append([]string{"init", "barrier"}, want...), "barrier", "finalize")
				assert.Equal(t, want, actions(t, dir, rank), "rank %s", rank)
			}
		})
	}
}

// What another thread sends is left out on both sides: its receiver would wait forever.
func TestOtherThreads(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 1).Finalize(9, 10)
	b.Rank(0).Thread().Send(2, 3, 1)
	b.Rank(1).Init(0, 1).Recv(2, 4, 0, 8).Finalize(9, 10)
	dir, s := export(t, timeline.Of(b.Open(t)))
	assert.Equal(t, []simgrid.Omission{{What: "calls of threads other than the first of each rank", Count: 1}, {What: "messages of threads other than the first of each rank", Count: 1}}, s.LeftOut)
	assert.Equal(t, []string{"init", "barrier", "compute 1000000", "compute 5000000", "barrier", "finalize"}, actions(t, dir, "1"))
}

// A rank that the trace lacks has a file, so that the others keep their numbers; MPI_Init and
// MPI_Finalize are those of the others.
func TestMissingRank(t *testing.T) {
	b := tracetest.New(3).Without(1)
	for _, i := range []int{0, 1} {
		b.Rank(i).Init(0, 1).Finalize(2, 3)
	}
	dir, _ := export(t, timeline.Of(b.Open(t)))
	assert.Equal(t, []string{"init", "finalize"}, actions(t, dir, "1"))
	assert.Equal(t, []string{
		"init", "irecv 0 1 2147483647", "isend 0 1 0", "wait 0 2 1", "wait 2 0 1", "compute 1000000",
		"irecv 0 0 2147483647", "isend 0 0 0", "wait 0 2 0", "wait 2 0 0", "finalize",
	}, actions(t, dir, "2"))
	hosts, err := os.ReadFile(filepath.Join(dir, "hostfile"))
	require.NoError(t, err)
	assert.Equal(t, "host0\nmissing-1\nhost0\n", string(hosts))
}

// The network of a simulated run is the one that it was simulated on, but for the 200 ns that each
// of its calls takes.
func TestMeasuredNetwork(t *testing.T) {
	c := simulate.Config{Pattern: "random", Ranks: 4, Iterations: 200, Model: simulate.Model{Latency: 5000, PerByte: 0.5}}
	_, s := export(t, timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c))))
	assert.True(t, s.Measured)
	assert.InDelta(t, 5000, s.Network.Latency, 600)
	assert.InDelta(t, 2, s.Network.Bandwidth, 0.2)
}

// Every export can be replayed to its end by rules that have nothing of SimGrid's time: see replay.
func TestReplayEnds(t *testing.T) {
	for _, pattern := range simulate.Names() {
		for _, bytes := range []int{0, 200_000} {
			c := simulate.Config{Pattern: pattern, Ranks: 9, Iterations: 3, Bytes: bytes, Imbalance: simulate.Imbalance{Noise: 30}}
			if pattern == "two-phase" || pattern == "butterfly" || pattern == "hypercube" || pattern == "transpose" {
				c.Ranks = 16
			}
			dir, s := export(t, timeline.Of(tracetest.Open(t, tracetest.Simulated(t, c))))
			assert.Empty(t, s.LeftOut, pattern)
			replay(t, pattern, dir, c.Ranks, s.HandshakeFrom)
		}
	}
	for seed := range int64(10) {
		dir, s := export(t, timeline.Of(tracetest.Open(t, tracetest.Random(t, seed, 5, 40, time.Millisecond))))
		replay(t, "random", dir, 5, s.HandshakeFrom)
	}
}
