package trace

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cairn-mpi/cairn/trace/timing"
	"github.com/stretchr/testify/require"
)

// tablesOf are those of a regular job: nodes of 64 ranks, all with the same calls.
func tablesOf(ranks int) (RankTable, ThreadTable) {
	var r RankTable
	var t ThreadTable
	own, streams := []uint32{0, 1}, []StreamRef{{Terminal: 3, Number: 0, Sequence: 1}}
	for i := range ranks {
		node := i / 64
		r.Append(Rank{
			Rank: i, Host: fmt.Sprint("node", node), Pod: "worker", Node: fmt.Sprint("node", node), BootID: fmt.Sprint("boot", node),
			PID: 100 + i%64, Executable: "/app/stencil", StartRealtimeNS: 1_700_000_000_000_000_000, CommunicatorsOwn: own,
			Clock: timing.Clock{Kind: "monotonic", Samples: []timing.ClockSample{{Ticks: 1000, MonotonicNS: 1000, RealtimeNS: 2000}}},
		})
		t.Append(Thread{Rank: i, InShape: i, Calls: 93, Streams: streams, FirstTick: 5, EndTick: 8000, InsideTicks: 700})
	}
	return r, t
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The memory of ranks and threads of a regular job grows with what is distinct: a few bytes per
// rank, mostly the name of its node; each additional clock sample takes 24. As structs they took
// 450 and more.
func TestTablesOfARegularJobAreSmall(t *testing.T) {
	const ranks = 1 << 17
	before := heapBytes()
	r, th := tablesOf(ranks)
	perRank := float64(heapBytes()-before) / ranks
	require.Less(t, perRank, 16.0)
	require.Equal(t, "node2047", r.At(ranks-1).Host)
	require.Equal(t, ranks-1, th.At(ranks-1).InShape)
	require.Equal(t, uint64(93*ranks), th.Calls())
	t.Logf("%.1f bytes a rank", perRank)
	runtime.KeepAlive(&r)
}

// Rows are the same one by one, in order, and after a change.
func TestTableRows(t *testing.T) {
	r, th := tablesOf(300)
	r.Change(7, func(r *Rank) {
		r.EndedEarly, r.Dropped, r.CommunicatorsOwn = "killed in MPI_Send", 5, nil
		r.Clock.Samples = append(r.Clock.Samples, timing.ClockSample{Ticks: 9000, MonotonicNS: 9000, RealtimeNS: 10_000})
		r.Context = []ContextSample{{MonotonicNS: 5 << 24, CPUNS: 6 << 16}, {MonotonicNS: 7 << 24, CPUNS: 9 << 16, CPU: 2}}
	})
	for i, rank := range r.All() {
		require.Equal(t, rank, r.At(i))
		require.Equal(t, i, r.Find(rank.Rank))
		require.Equal(t, i == 7, rank.EndedEarly != "")
	}
	require.Equal(t, -1, r.Find(300))
	seven := r.At(7)
	require.Equal(t, []ContextSample{{MonotonicNS: 5 << 24, CPUNS: 6 << 16}, {MonotonicNS: 7 << 24, CPUNS: 9 << 16, CPU: 2}}, seven.Context)
	require.Equal(t, []timing.ClockSample{{Ticks: 1000, MonotonicNS: 1000, RealtimeNS: 2000}, {Ticks: 9000, MonotonicNS: 9000, RealtimeNS: 10_000}}, seven.Clock.Samples)
	require.Empty(t, seven.CommunicatorsOwn)
	require.Equal(t, []uint32{0, 1}, r.At(8).CommunicatorsOwn)
	th.Change(3, func(t *Thread) {
		t.Gaps, t.Durations, t.Streams, t.SignaturesJoined = []int64{1}, []int64{2}, nil, true
	})
	require.Equal(t, []int64{1}, th.At(3).Gaps)
	require.Empty(t, th.At(2).Gaps)
	require.Empty(t, th.At(3).Streams)
	require.True(t, th.At(3).SignaturesJoined)
	require.Equal(t, 3, th.Find(3, 0))
	require.Equal(t, -1, th.Find(3, 1))
}
