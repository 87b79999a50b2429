package route_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// piece is a path segment in units of tracetest.
type piece struct {
	rank       int
	start, end float64
	what       string // function, or "computation"
}

func pieces(f analyzertest.Findings) []piece {
	var list []piece
	for _, s := range f.Path.Segments {
		list = append(list, piece{s.Rank, float64(s.StartNS) / tracetest.Unit, float64(s.EndNS) / tracetest.Unit, s.Function})
	}
	return list
}

// A pattern is a trace with its expected path and waits.
type pattern struct {
	name  string
	build func() *tracetest.Builder
	path  []piece
	waits map[string]float64
}

const big = 100_000 // bytes of a message that no implementation sends eagerly

var patterns = []pattern{
	{
		// Rank 1 enters MPI_Recv at 10 and waits until rank 0, which computes until 50, enters
		// MPI_Send: 40 lost. The path: rank 0 up to 50, then rank 1's receive of what is left of
		// the message, and its end.
		name: "late sender",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Send(50, 55, 1).Finalize(60, 70)
			b.Rank(1).Init(0, 5).Recv(10, 58, 0, 8).Finalize(90, 100)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 50, "computation"},
			{1, 50, 58, "MPI_Recv"}, {1, 58, 90, "computation"}, {1, 90, 100, "MPI_Finalize"},
		},
		// MPI_Finalize: rank 0 leaves (70) before rank 1 enters (90), so it did not wait there.
		waits: map[string]float64{"late sender": 40},
	},
	{
		// Rank 0 sends 100 kB at 10 and is blocked until rank 1 enters MPI_Recv at 50. Rank 0
		// is last to leave.
		name: "late receiver, rendezvous",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Send(10, 60, 1).Finalize(90, 100)
			b.Rank(1).Init(0, 5).Recv(50, 60, 0, big).Finalize(65, 70)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 50, "computation"},
			{0, 50, 60, "MPI_Send"}, {0, 60, 90, "computation"}, {0, 90, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late receiver": 40},
	},
	{
		// The same with 8 bytes: an eager send does not wait, so its time is communication and
		// stays on the path.
		name: "late receiver, eager",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Send(10, 60, 1).Finalize(90, 100)
			b.Rank(1).Init(0, 5).Recv(50, 60, 0, 8).Finalize(65, 70)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 10, "computation"}, {0, 10, 60, "MPI_Send"},
			{0, 60, 90, "computation"}, {0, 90, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{},
	},
	{
		// A synchronous send of 0 bytes waits for its receive whatever its size.
		name: "late receiver, synchronous",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Ssend(10, 55, 1).Finalize(90, 100)
			b.Rank(1).Init(0, 5).Recv(50, 55, 0, 0).Finalize(65, 70)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 50, "computation"},
			{0, 50, 55, "MPI_Ssend"}, {0, 55, 90, "computation"}, {0, 90, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late receiver": 40},
	},
	{
		// Ranks enter the barrier at 10, 20, 80 and leave at 82. Waits: 70 + 60. After it rank 0
		// computes longest.
		name: "barrier",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			enter, finish := []float64{10, 20, 80}, []float64{95, 90, 85}
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 5).Collective("MPI_Barrier", enter[i], 82).Finalize(finish[i], 100)
			})
			return b
		},
		// MPI_Finalize: rank 0 is the last to enter (95); ranks 1 and 2 wait 5 and 10. All leave
		// at 100, and of equal ranks the first one is where the path ends.
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 80, "computation"},
			{0, 80, 82, "MPI_Barrier"}, {0, 82, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at barrier": 130, "wait at finalize": 15},
	},
	{
		// Root 1 enters MPI_Bcast at 60; ranks 0 and 2 have entered at 10 and 70. Rank 0 waits 50,
		// rank 2 does not.
		name: "bcast",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			b.Rank(0).Init(0, 5).Rooted("MPI_Bcast", 10, 65, 1).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Rooted("MPI_Bcast", 60, 62, 1).Finalize(70, 75)
			b.Rank(2).Init(0, 5).Rooted("MPI_Bcast", 70, 72, 1).Finalize(80, 85)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 60, "computation"},
			{0, 60, 65, "MPI_Bcast"}, {0, 65, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late broadcast": 50},
	},
	{
		// Root 0 enters MPI_Reduce at 10; the last of the others, rank 2, at 70. The others do not
		// wait.
		name: "reduce",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			b.Rank(0).Init(0, 5).Rooted("MPI_Reduce", 10, 73, 0).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Rooted("MPI_Reduce", 40, 41, 0).Finalize(50, 55)
			b.Rank(2).Init(0, 5).Rooted("MPI_Reduce", 70, 72, 0).Finalize(80, 85)
			return b
		},
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 70, "computation"},
			{0, 70, 73, "MPI_Reduce"}, {0, 73, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"early reduce": 60},
	},
	{
		// Two rounds: rank 1 is late at the first MPI_Allreduce (40), rank 0 at the second (80).
		name: "allreduce",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Collective("MPI_Allreduce", 10, 42).Collective("MPI_Allreduce", 80, 83).Finalize(85, 90)
			b.Rank(1).Init(0, 5).Collective("MPI_Allreduce", 40, 42).Collective("MPI_Allreduce", 50, 83).Finalize(95, 100)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 40, "computation"},
			{0, 40, 42, "MPI_Allreduce"}, {0, 42, 80, "computation"},
			{1, 80, 83, "MPI_Allreduce"}, {1, 83, 95, "computation"}, {1, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at NxN": 30 + 30},
	},
	{
		// MPI_Scan: rank i depends on ranks 0 … i. Entries 10, 50, 20: rank 0 depends on no other;
		// rank 1 on itself; rank 2 waits for rank 1 from 20 to 50.
		name: "scan",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			b.Rank(0).Init(0, 5).Collective("MPI_Scan", 10, 12).Finalize(20, 25)
			b.Rank(1).Init(0, 5).Collective("MPI_Scan", 50, 52).Finalize(60, 65)
			b.Rank(2).Init(0, 5).Collective("MPI_Scan", 20, 54).Finalize(95, 100)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 50, "computation"},
			{2, 50, 54, "MPI_Scan"}, {2, 54, 95, "computation"}, {2, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"early scan": 30},
	},
	{
		// A ring of MPI_Sendrecv: each sends to the right and receives from the left. Rank 0 is
		// late (50): rank 1 waits for it; then rank 1 is late for rank 2 in the second
		// round (60 against 30).
		name: "sendrecv ring",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			enter := [][2]float64{{50, 65}, {10, 60}, {20, 30}}
			exit := [][2]float64{{52, 68}, {55, 66}, {25, 63}}
			b.Ranks(func(i int, r *tracetest.Rank) {
				left, right := (i+2)%3, (i+1)%3
				r.Init(0, 5)
				for k := range 2 {
					r.Call("MPI_Sendrecv", enter[i][k], exit[i][k], tracetest.Args{"dest": right, "source": left, "status": tracetest.Status{Source: left, Bytes: 8}})
				}
				r.Finalize([]float64{70, 70, 90}[i], []float64{75, 75, 100}[i])
			})
			return b
		},
		// Rank 1 waits 10 → 50 for rank 0, rank 2 waits 30 → 60 for rank 1 in round two; rank 0's
		// message in round two left at 65 > 60: rank 1 waits 5 more for it.
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 50, "computation"},
			{1, 50, 55, "MPI_Sendrecv"}, {1, 55, 60, "computation"},
			{2, 60, 63, "MPI_Sendrecv"}, {2, 63, 90, "computation"}, {2, 90, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 40 + 30 + 5},
	},
	{
		// MPI_Waitall for messages of two sources that leave at 30 and 60: it waits
		// for the later one.
		name: "waitall, two sources",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			b.Rank(0).Init(0, 5).Irecv(6, 7, 1, 0).Irecv(7, 8, 2, 1).
				Waitall(10, 63, tracetest.Requests{0, 1}, tracetest.Status{Source: 1, Bytes: 8}, tracetest.Status{Source: 2, Bytes: 8}).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Send(30, 31, 0).Finalize(40, 41)
			b.Rank(2).Init(0, 5).Send(60, 61, 0).Finalize(70, 71)
			return b
		},
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 60, "computation"},
			{0, 60, 63, "MPI_Waitall"}, {0, 63, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 50},
	},
	{
		// The message was sent long before the receiver enters MPI_Wait: full overlap, no rank
		// waits.
		name: "non-blocking overlap",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Irecv(6, 7, 1, 0).
				Call("MPI_Wait", 80, 82, tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: 1, Bytes: 8}}).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Isend(40, 41, 0, 0).
				Call("MPI_Wait", 50, 51, tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: -1}}).Finalize(60, 61)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 6, "computation"}, {0, 6, 7, "MPI_Irecv"}, {0, 7, 80, "computation"},
			{0, 80, 82, "MPI_Wait"}, {0, 82, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{},
	},
	{
		// Two halves of the world reduce on their own communicators: rank 1 is late for rank 0
		// (40), rank 3 for rank 2 (70). World ranks 2 and 3 are ranks 0 and 1 of theirs.
		// MPI_Comm_split at 6 … 8 on all.
		name: "sub-communicators",
		build: func() *tracetest.Builder {
			b := tracetest.New(4)
			low, high := b.Comm("low", 0, 1), b.Comm("high", 2, 3)
			enter := []float64{10, 40, 20, 70}
			b.Ranks(func(i int, r *tracetest.Rank) {
				comm, leave, end := low, 42.0, 50.0
				if i >= 2 {
					comm, leave, end = high, 72, 95
				}
				r.Init(0, 5).Call("MPI_Comm_split", 6, 8, tracetest.Args{"color": i / 2, "newcomm": tracetest.Comm(comm)})
				r.Call("MPI_Allreduce", enter[i], leave, tracetest.Args{"comm": tracetest.Comm(comm)})
				r.Finalize(end-float64(i), end+5)
			})
			return b
		},
		// Finalize of 2 and 3 begins at 93 and 92: rank 3 waits 1 for rank 2; ranks 0 and 1 leave
		// before any rank is late.
		path: []piece{
			{3, 0, 5, "MPI_Init"}, {3, 5, 6, "computation"}, {3, 6, 8, "MPI_Comm_split"}, {3, 8, 70, "computation"},
			{2, 70, 72, "MPI_Allreduce"}, {2, 72, 93, "computation"}, {2, 93, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at NxN": 30 + 50, "wait at finalize": 1},
	},
	{
		// Two wildcard receives at rank 0; their statuses are from 2, then from 1. Rank 2 sends at
		// 30, rank 1 at 60. Matching by time and by order agree only if the statuses are used.
		name: "wildcard receive",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			b.Rank(0).Init(0, 5)
			for k, from := range []int{2, 1} {
				b.Rank(0).Call("MPI_Recv", []float64{10, 34}[k], []float64{32, 63}[k], tracetest.Args{
					"source": "MPI_ANY_SOURCE", "tag": "MPI_ANY_TAG", "status": tracetest.Status{Source: from, Tag: 7, Bytes: 8}})
			}
			b.Rank(0).Finalize(95, 100)
			for i, at := range map[int]float64{1: 60, 2: 30} {
				b.Rank(i).Init(0, 5).Call("MPI_Send", at, at+1, tracetest.Args{"dest": 0, "tag": 7}).Finalize(at+5, at+6)
			}
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 60, "computation"},
			{0, 60, 63, "MPI_Recv"}, {0, 63, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 20 + 26},
	},
	{
		// Rank 0 is launched 20 units after rank 1, whose MPI_Init waits for it: the run
		// starts with a launch.
		name: "late launch",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(20, 25).Finalize(95, 100)
			b.Rank(1).Init(0, 25).Finalize(90, 100)
			return b
		},
		path: []piece{
			{0, 0, 20, "launch"}, {0, 20, 25, "MPI_Init"}, {0, 25, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at init": 20, "wait at finalize": 5},
	},
	{
		// Persistent requests, started twice: the second start's message is late (70).
		name: "persistent",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Call("MPI_Recv_init", 5, 6, tracetest.Args{"source": 1, "request": tracetest.Request(3)})
			b.Rank(1).Init(0, 5).Call("MPI_Send_init", 5, 6, tracetest.Args{"dest": 0, "request": tracetest.Request(4)})
			for k := range 2 {
				b.Rank(0).Call("MPI_Start", []float64{10, 50}[k], []float64{11, 51}[k], tracetest.Args{"request": tracetest.Request(3)}).
					Call("MPI_Wait", []float64{40, 52}[k], []float64{42, 73}[k], tracetest.Args{"request": tracetest.Request(3), "status": tracetest.Status{Source: 1, Bytes: 8}})
				b.Rank(1).Call("MPI_Start", []float64{20, 70}[k], []float64{21, 71}[k], tracetest.Args{"request": tracetest.Request(4)}).
					Call("MPI_Wait", []float64{22, 72}[k], []float64{23, 73}[k], tracetest.Args{"request": tracetest.Request(4), "status": tracetest.Status{Source: -1}})
			}
			b.Rank(0).Finalize(95, 100)
			b.Rank(1).Finalize(80, 81)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 6, "MPI_Send_init"}, {1, 6, 20, "computation"}, {1, 20, 21, "MPI_Start"}, {1, 21, 22, "computation"},
			{1, 22, 23, "MPI_Wait"}, {1, 23, 70, "computation"},
			{0, 70, 73, "MPI_Wait"}, {0, 73, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 18},
	},
	{
		// A probe waits for the message (30), the receive after it does not.
		name: "probe",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).
				Call("MPI_Probe", 10, 32, tracetest.Args{"source": "MPI_ANY_SOURCE", "status": tracetest.Status{Source: 1, Bytes: 8}}).
				Recv(33, 35, 1, 8).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Send(30, 31, 0).Finalize(40, 41)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 30, "computation"},
			{0, 30, 32, "MPI_Probe"}, {0, 32, 33, "computation"}, {0, 33, 35, "MPI_Recv"}, {0, 35, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 20},
	},
	{
		// A matched probe takes the first message (30); the plain receive that follows must match
		// the second (60).
		name: "matched probe",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).
				Call("MPI_Mprobe", 10, 32, tracetest.Args{"source": 1, "message": tracetest.Message(0), "status": tracetest.Status{Source: 1, Bytes: 8}}).
				Recv(33, 63, 1, 8).
				Call("MPI_Mrecv", 64, 65, tracetest.Args{"message": tracetest.Message(0), "status": tracetest.Status{Source: 1, Bytes: 8}}).
				Finalize(95, 100)
			b.Rank(1).Init(0, 5).Send(30, 31, 0).Send(60, 61, 0).Finalize(70, 71)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 30, "computation"}, {1, 30, 31, "MPI_Send"}, {1, 31, 60, "computation"},
			{0, 60, 63, "MPI_Recv"}, {0, 63, 64, "computation"}, {0, 64, 65, "MPI_Mrecv"}, {0, 65, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		// The second wait was for a message that was sent after the one that
		// MPI_Mrecv then completes.
		waits: map[string]float64{"late sender": 20 + 27, "late sender, wrong order, same source": 27},
	},
	{
		// MPI_Ibarrier is entered at 10 and 40; rank 0 waits for its completion from 20 on, until
		// rank 1 enters it.
		name: "non-blocking barrier",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			wait := tracetest.Args{"request": tracetest.Request(0), "status": tracetest.Status{Source: -1}}
			b.Rank(0).Init(0, 5).Call("MPI_Ibarrier", 10, 11, tracetest.Args{"request": tracetest.Request(0)}).Call("MPI_Wait", 20, 43, wait).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Call("MPI_Ibarrier", 40, 41, tracetest.Args{"request": tracetest.Request(0)}).Call("MPI_Wait", 42, 43, wait).Finalize(50, 51)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 40, "computation"},
			{0, 40, 43, "MPI_Wait"}, {0, 43, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at barrier": 20},
	},
	{
		// A line of three in a Cartesian communicator: rank 0's only neighbor is 1, so rank 2 (80)
		// does not matter to it.
		name: "neighborhood collective",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			b.Communicator(0).Topology.Dims = []int{3}
			b.Communicator(0).Topology.Periodic = []bool{false}
			enter, exit := []float64{10, 30, 60}, []float64{32, 62, 63}
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 5).Collective("MPI_Neighbor_allgather", enter[i], exit[i]).Finalize([]float64{95, 70, 70}[i], []float64{100, 75, 75}[i])
			})
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 30, "computation"},
			{0, 30, 32, "MPI_Neighbor_allgather"}, {0, 32, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"wait at neighborhood collective": 20 + 30},
	},
	{
		// Rank 1 posts its receive of 100 kB at 10 and then computes until 80; rank 0 sends at 20
		// and waits from 30 on. The message cannot be transferred before rank 1 is inside MPI
		// again.
		name: "late progress of the receiver",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Isend(20, 21, 1, 0).Waitall(30, 84, tracetest.Requests{0}).Finalize(95, 100)
			b.Rank(1).Init(0, 5).Irecv(10, 11, 0, 0).Waitall(80, 84, tracetest.Requests{0}, tracetest.Status{Source: 0, Bytes: big}).Finalize(85, 86)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 10, "computation"}, {1, 10, 11, "MPI_Irecv"}, {1, 11, 80, "computation"},
			{0, 80, 84, "MPI_Waitall"}, {0, 84, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late progress": 50},
	},
	{
		// Rank 0 posts its send of 100 kB at 10 and computes until 80; rank 1 is in MPI_Recv from
		// 20 to 83. It leaves 3 after the return of rank 0, not 3 after its own entry, so it waited
		// for rank 0 from 20 on.
		name: "late progress of the sender",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Isend(10, 11, 1, 0).Waitall(80, 83, tracetest.Requests{0}).Finalize(85, 86)
			b.Rank(1).Init(0, 5).Recv(20, 83, 0, big).Finalize(95, 100)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 10, "computation"}, {0, 10, 11, "MPI_Isend"}, {0, 11, 80, "computation"},
			{1, 80, 83, "MPI_Recv"}, {1, 83, 95, "computation"}, {1, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late progress": 60},
	},
	{
		// The same, but rank 1 has the message at 30: it fetched it alone.
		name: "progress without the sender",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			b.Rank(0).Init(0, 5).Isend(10, 11, 1, 0).Waitall(80, 81, tracetest.Requests{0}).Finalize(85, 86)
			b.Rank(1).Init(0, 5).Recv(20, 30, 0, big).Finalize(95, 100)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 20, "computation"}, {1, 20, 30, "MPI_Recv"}, {1, 30, 95, "computation"}, {1, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{},
	},
	{
		// An intercommunicator of {0, 1} and {2}: each side has its own instance. Rank 2 broadcasts
		// to the others (MPI_ROOT) at 60; rank 0 enters at 10, rank 1 at 70.
		name: "intercommunicator",
		build: func() *tracetest.Builder {
			b := tracetest.New(3)
			left, right := b.Comm("x+y#7.0", 0, 1), b.Comm("x+y#7.0", 2)
			b.Communicator(left).Remote, b.Communicator(right).Remote = b.Communicator(right).Members, b.Communicator(left).Members
			enter, exit, finish := []float64{10, 70, 60}, []float64{63, 71, 61}, []float64{95, 75, 65}
			b.Ranks(func(i int, r *tracetest.Rank) {
				comm, root := tracetest.Comm(left), any(0)
				if i == 2 {
					comm, root = tracetest.Comm(right), "MPI_ROOT"
				}
				r.Init(0, 5).Call("MPI_Intercomm_create", 6, 8, tracetest.Args{"newintercomm": comm})
				r.Call("MPI_Bcast", enter[i], exit[i], tracetest.Args{"root": root, "comm": comm}).Finalize(finish[i], finish[i]+5)
			})
			return b
		},
		path: []piece{
			{2, 0, 5, "MPI_Init"}, {2, 5, 6, "computation"}, {2, 6, 8, "MPI_Intercomm_create"}, {2, 8, 60, "computation"},
			{0, 60, 63, "MPI_Bcast"}, {0, 63, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late broadcast": 50},
	},
	{
		// Rank 0 polls with MPI_Test every 0.05 from 20 on; rank 1 sends at 20.2; the poll that
		// begins at 20.25 succeeds. The polls and what is between them are waiting: 0.2 of it for
		// rank 1. After a computation of 10, another request's first poll succeeds at once.
		name: "polling",
		build: func() *tracetest.Builder {
			b := tracetest.New(2)
			r := b.Rank(0).Init(0, 5).Irecv(6, 7, 1, 0).Irecv(7, 8, 1, 1)
			test := func(at float64, q tracetest.Request, flag int) {
				args := tracetest.Args{"request": q, "flag": flag}
				if flag == 1 {
					args["status"] = tracetest.Status{Source: 1, Bytes: 8}
				}
				r.Call("MPI_Test", at, at+0.01, args)
			}
			for k := range 5 {
				test(20+0.05*float64(k), 0, 0)
			}
			test(20.25, 0, 1)
			test(30, 1, 1)
			r.Finalize(95, 100)
			b.Rank(1).Init(0, 5).Send(20.2, 20.3, 0).Send(25, 25.1, 0).Finalize(60, 61)
			return b
		},
		path: []piece{
			{1, 0, 5, "MPI_Init"}, {1, 5, 20.2, "computation"},
			{0, 20.2, 20.26, "MPI_Test"}, {0, 20.26, 30, "computation"}, {0, 30, 30.01, "MPI_Test"}, {0, 30.01, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{"late sender": 0.2},
	},
	{
		// MPI_PROC_NULL has no partner.
		name: "proc null",
		build: func() *tracetest.Builder {
			b := tracetest.New(1)
			b.Rank(0).Init(0, 5).Call("MPI_Sendrecv", 10, 20, tracetest.Args{"dest": "MPI_PROC_NULL", "source": "MPI_PROC_NULL", "status": tracetest.Status{Source: -2}}).Finalize(95, 100)
			return b
		},
		path: []piece{
			{0, 0, 5, "MPI_Init"}, {0, 5, 10, "computation"}, {0, 10, 20, "MPI_Sendrecv"}, {0, 20, 95, "computation"}, {0, 95, 100, "MPI_Finalize"},
		},
		waits: map[string]float64{},
	},
}

func TestPatterns(t *testing.T) {
	for _, p := range patterns {
		t.Run(p.name, p.test)
	}
}

func (p *pattern) test(t *testing.T) {
	f := analyzertest.Built(t, p.build())
	assert.Equal(t, p.path, pieces(f))
	assert.Equal(t, p.waits, f.Waited())
	assert.Empty(t, f.Notes)
	assert.Zero(t, f.Clock.Violations)
	replayed, err := predict.Play(context.Background(), timeline.Of(p.build().Open(t)), nil, []predict.Scenario{{}})
	require.NoError(t, err)
	assert.Equal(t, int64(math.Round(f.RunSeconds*1e9)), replayed[0], "replayed as it was, the run takes as long as it did")
}
