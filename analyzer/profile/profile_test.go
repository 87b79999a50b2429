package profile_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/profile"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/volume"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// TestProfileByHand: rank 0 sends 3 × 10 doubles (80 bytes) of 2 ms and once 1000 bytes of 4 ms,
// then both reduce one double in 1 ms on rank 0 and 5 ms on rank 1.
func TestProfileByHand(t *testing.T) {
	b := tracetest.New(2)
	r := b.Rank(0).At("a.c:1").Init(0, 1).At("a.c:5")
	for k := range 3 {
		r.Call("MPI_Send", float64(10+10*k), float64(12+10*k), tracetest.Args{"count": 10, "datatype": "MPI_DOUBLE", "dest": 1})
	}
	r.At("a.c:9").Call("MPI_Send", 50, 54, tracetest.Args{"count": 1000, "datatype": "MPI_BYTE", "dest": 1})
	r.At("a.c:11").Call("MPI_Allreduce", 64, 65, tracetest.Args{"count": 1, "datatype": "MPI_DOUBLE"}).Finalize(70, 71)
	r = b.Rank(1).At("a.c:1").Init(0, 1).At("a.c:7")
	for k := range 3 {
		r.Recv(float64(10+10*k), float64(12+10*k), 0, 80)
	}
	r.Recv(50, 54, 0, 1000)
	r.At("a.c:11").Call("MPI_Allreduce", 60, 65, tracetest.Args{"count": 1, "datatype": "MPI_DOUBLE"}).Finalize(70, 71)

	f, err := profile.Analyze(context.Background(), timeline.Of(b.Open(t)))
	require.NoError(t, err)
	cells := map[string]profile.Volume{}
	for _, c := range f.Cells {
		cells[c.Function+" "+c.CallSite+" "+c.Communicator+" "+c.SizeClass] = c.Volume
	}
	volume := func(calls uint64, ms float64, bytes uint64) profile.Volume {
		return profile.Volume{Calls: calls, Seconds: ms / 1000, Bytes: bytes}
	}
	near := func(want, got profile.Volume) {
		t.Helper()
		assert.InDelta(t, want.Seconds, got.Seconds, 1e-9)
		want.Seconds, got.Seconds = 0, 0
		assert.Equal(t, want, got)
	}
	near(volume(3, 6, 240), cells["MPI_Send a.c:5 MPI_COMM_WORLD 64 B – 127 B"])
	near(volume(1, 4, 1000), cells["MPI_Send a.c:9 MPI_COMM_WORLD 512 B – 1023 B"])
	near(volume(2, 6, 16), cells["MPI_Allreduce a.c:11 MPI_COMM_WORLD 8 B – 15 B"])
	calls := uint64(0)
	for _, r := range f.Ranks {
		calls += r.Calls
	}
	assert.Equal(t, uint64(14), calls)
	near(volume(7, 1+6+4+1+1, 240+1000+8), f.Ranks[0].Volume)
	for _, row := range f.Functions {
		if row.Name == "MPI_Send" {
			near(volume(4, 10, 1240), row.Volume)
		}
	}
	assert.Equal(t, profile.Matrix{Ranks: 2, Tile: 1, Cells: []profile.Tile{{From: 0, To: 1, Calls: 4, Bytes: 1240}}}, f.Matrix)
}

// TestMatrixIsBounded: of 600 ranks in a row, three share a tile; the neighbors'
// traffic is kept whole.
func TestMatrixIsBounded(t *testing.T) {
	b := tracetest.New(600)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Call("MPI_Send", 1, 2, tracetest.Args{"count": 8, "datatype": "MPI_BYTE", "dest": (i + 1) % 600})
	})
	f, err := profile.Analyze(context.Background(), timeline.Of(b.Open(t)))
	require.NoError(t, err)
	assert.Equal(t, 3, f.Matrix.Tile)
	assert.Len(t, f.Matrix.Cells, 400) // 200 within a tile, 200 to the next
	bytes := uint64(0)
	for _, c := range f.Matrix.Cells {
		assert.Less(t, max(c.From, c.To), 256)
		bytes += c.Bytes
	}
	assert.Equal(t, uint64(4800), bytes)
}

// TestFullMatrixIsTiled: each of 200 ranks sends a byte to every one, itself included: 40,000 pairs
// exceed the limit; in tiles of two it is 10,000 with four messages each.
func TestFullMatrixIsTiled(t *testing.T) {
	b := tracetest.New(200)
	b.Ranks(func(_ int, r *tracetest.Rank) {
		for to := range 200 {
			r.Call("MPI_Send", float64(1+to), float64(2+to), tracetest.Args{"count": 1, "datatype": "MPI_BYTE", "dest": to})
		}
	})
	f, err := profile.Analyze(context.Background(), timeline.Of(b.Open(t)))
	require.NoError(t, err)
	assert.Equal(t, 2, f.Matrix.Tile)
	assert.Len(t, f.Matrix.Cells, 10_000)
	for _, c := range f.Matrix.Cells {
		require.Equal(t, [2]uint64{4, 4}, [2]uint64{c.Calls, c.Bytes}, "%+v", c)
	}
}

// TestPartitionedBytes: rank 0 prepares a message of 4 partitions of 10 doubles, 320 bytes (MPI 4.0
// §4.2: the count is per partition), and starts it 3 times; rank 1 receives it in 2 partitions of
// 20. The profile and the matrix agree.
func TestPartitionedBytes(t *testing.T) {
	b := tracetest.New(2)
	request := tracetest.Request(0)
	send := tracetest.Args{"partitions": 4, "count": 10, "datatype": "MPI_DOUBLE", "dest": 1, "request": request}
	receive := tracetest.Args{"partitions": 2, "count": 20, "datatype": "MPI_DOUBLE", "source": 0, "request": request}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("p.c:1").Init(0, 1)
		if i == 0 {
			r.At("p.c:2").Call("MPI_Psend_init", 2, 3, send)
		} else {
			r.At("p.c:3").Call("MPI_Precv_init", 2, 3, receive)
		}
		for k := range 3 {
			now := float64(10 + 10*k)
			r.At("p.c:4").Call("MPI_Start", now, now+1, tracetest.Args{"request": request})
			if i == 0 {
				r.At("p.c:5").Call("MPI_Pready_range", now+1, now+2, tracetest.Args{"partition_low": 0, "partition_high": 3, "request": request})
			}
			r.At("p.c:6").Call("MPI_Wait", now+3, now+4, tracetest.Args{"request": request})
		}
		r.At("p.c:7").Finalize(50, 51)
	})
	f, err := profile.Analyze(context.Background(), timeline.Of(b.Open(t)))
	require.NoError(t, err)
	bytes := map[string]uint64{}
	for _, c := range f.Cells {
		bytes[c.Function] += c.Bytes
	}
	assert.EqualValues(t, 320, bytes["MPI_Psend_init"])
	assert.EqualValues(t, 320, bytes["MPI_Precv_init"])
	assert.Equal(t, profile.Matrix{Ranks: 2, Tile: 1, Cells: []profile.Tile{{From: 0, To: 1, Calls: 3, Bytes: 3 * 320}}}, f.Matrix)
}

// TestBytesOfEachDatatype: MPI_Alltoallw has a datatype for each rank: 3 doubles and 5 integers of
// 4 bytes, 44 bytes. If one datatype is not predefined, the size is not known.
func TestBytesOfEachDatatype(t *testing.T) {
	number := func(n int64) trace.Value { return trace.Value{Form: trace.Int, Int: n} }
	name := func(s string) trace.Value { return trace.Value{Form: trace.Name, Text: s} }
	list := func(values ...trace.Value) trace.Value { return trace.Value{Form: trace.List, List: values} }
	size := volume.PayloadOf(semantics.Of(mpi.ByName("MPI_Alltoallw")))
	in := make([]trace.Value, 8) // sendbuf, sendcounts, sdispls, sendtypes, …
	call := &trace.Event{In: in, Comm: -1}
	in[1], in[3] = list(number(3), number(5)), list(name("MPI_DOUBLE"), name("MPI_INT"))
	assert.Equal(t, volume.Size{Bytes: 44, Moves: true, Known: true}, size.Of(call, nil))
	in[3].List[1] = trace.Value{Form: trace.Handle, Int: 7}
	assert.Equal(t, volume.Size{Moves: true}, size.Of(call, nil))
	in[1].List[1] = number(0)
	assert.Equal(t, volume.Size{Bytes: 24, Moves: true, Known: true}, size.Of(call, nil), "nothing of a type that is not known")
}

// In the profile, counts per process count for all processes (MPI 4.0 §6): 10 doubles for each of 3
// are 240 bytes from each caller of MPI_Alltoall, and from the root of MPI_Scatter; on a
// communicator of 2 they are 160. MPI_Reduce_scatter_block combines 4 for each, 96 bytes. Other
// counts are not per process: 10 to gather are 80.
func TestCountsOfEachProcess(t *testing.T) {
	b := tracetest.New(3)
	pair := b.Comm("pair", 0, 1)
	doubles := func(count string, n int, more tracetest.Args) tracetest.Args {
		args := tracetest.Args{count: n, "sendtype": "MPI_DOUBLE", "recvtype": "MPI_DOUBLE", "datatype": "MPI_DOUBLE"}
		for name, v := range more {
			args[name] = v
		}
		return args
	}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1).Call("MPI_Comm_create_group", 2, 3, tracetest.Args{"newcomm": tracetest.Comm(pair)})
		r.Call("MPI_Alltoall", 4, 5, doubles("sendcount", 10, nil)).Call("MPI_Reduce_scatter_block", 6, 7, doubles("recvcount", 4, nil))
		sent := 0
		if i == 1 {
			sent = 10
		}
		r.Call("MPI_Scatter", 8, 9, doubles("sendcount", sent, tracetest.Args{"root": 1}))
		r.Call("MPI_Allgather", 10, 11, doubles("sendcount", 10, nil))
		if i < 2 {
			r.Call("MPI_Alltoall", 12, 13, doubles("sendcount", 10, tracetest.Args{"comm": tracetest.Comm(pair)}))
		}
		r.Finalize(20, 21)
	})
	f, err := profile.Analyze(context.Background(), timeline.Of(b.Open(t)))
	require.NoError(t, err)
	bytes := map[string]uint64{}
	for _, c := range f.Cells {
		bytes[c.Function+" "+c.Communicator] += c.Bytes
	}
	assert.Equal(t, map[string]uint64{
		"MPI_Init ": 0, "MPI_Finalize ": 0, "MPI_Comm_create_group MPI_COMM_WORLD": 0, "MPI_Alltoall MPI_COMM_WORLD": 3 * 240,
		"MPI_Reduce_scatter_block MPI_COMM_WORLD": 3 * 96, "MPI_Scatter MPI_COMM_WORLD": 240, "MPI_Allgather MPI_COMM_WORLD": 3 * 80,
		"MPI_Alltoall pair": 2 * 160,
	}, bytes)
}
