package predict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/predict"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// By hand, in units: three barriers take 1 each after the last rank has come. Rank 0 computes 2
// before each of them, rank 1 computes 2, 12 and 2. If no computation of more than 5 took longer
// than 2, the second barrier would end 10 earlier.
//
//	rank 0: Init 1-2, Barrier 4-5, 7-18, 20-21, Finalize 22-23
//	rank 1: Init 1-2, Barrier 4-5, 17-18, 20-21, Finalize 22-23
func TestSingleInstancesTakeOtherTimes(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Init(1, 2).Collective("MPI_Barrier", 4, 5).Collective("MPI_Barrier", float64(7+10*i), 18).Collective("MPI_Barrier", 20, 21).Finalize(22, 23)
	})
	tr := timeline.Of(b.Open(t))
	asked := map[string][]int64{} // by the call that comes before, on rank 1
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Takes: func(location int, r predict.Region, ns int64) int64 {
		if name := tr.Function(r.After).Name; location == 1 {
			asked[name] = append(asked[name], ns/tracetest.Unit)
		}
		if ns > 5*tracetest.Unit {
			return 2 * tracetest.Unit
		}
		return ns
	}})
	assert.Equal(t, []int64{22 * tracetest.Unit, 12 * tracetest.Unit}, lengths)
	assert.Equal(t, map[string][]int64{"MPI_Init": {2}, "MPI_Barrier": {12, 2, 1}}, asked, "one computation at a time, as long as it took")
}

// A computation may take longer than it did, too: with 4 in the place of rank 1's 2 the
// barrier ends 2 later.
func TestAComputationTakesLonger(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(1, 2).Collective("MPI_Barrier", 4, 5).Finalize(6, 7) })
	tr := timeline.Of(b.Open(t))
	lengths := play(t, tr, predict.Scenario{Takes: func(location int, r predict.Region, ns int64) int64 {
		if location == 1 && tr.Function(r.After).Name == "MPI_Init" {
			return 2 * ns
		}
		return ns
	}})
	assert.Equal(t, []int64{8 * tracetest.Unit}, lengths)
}

// By hand, in units: the first receive finds its message and takes 0.5, the second waits for its
// own from 4 to 8.
//
//	rank 0: Init 1-2, Recv 3-3.5, Recv 4-9, Finalize 20-21
//	rank 1: Init 1-2, Send 2.1-2.2, Send 8-9, Finalize 10-21
//
// If receives wait for nobody, the second takes 0.5 as well, so rank 0 is 4.5 earlier: in Finalize
// at 15.5, which still waits for all, and ends at 16.5: 15.5 from 1 on. If nothing but Init and
// Finalize waits and the network is ideal, Init ends at 1, the first receive at 2, the second
// at 2.5, and Finalize begins and ends at 13.5: 12.5.
func TestCallsThatWaitForNobody(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(1, 2).Recv(3, 3.5, 1, 8).Recv(4, 9, 1, 8).Finalize(20, 21)
	b.Rank(1).Init(1, 2).Send(2.1, 2.2, 0).Send(8, 9, 0).Finalize(10, 21)
	tr := timeline.Of(b.Open(t))
	receives := func(function uint16, _ uint32) bool { return tr.Function(function).Name == "MPI_Recv" }
	lengths := play(t, tr, predict.Scenario{}, predict.Scenario{Ignores: receives}, predict.Scenario{Ignores: receives, Network: &predict.Network{}})
	assert.Equal(t, []int64{20 * tracetest.Unit, 15_500_000, 12_500_000}, lengths)
}

// By hand, in units: rank 0 sends 1 MiB at 4 and goes on when rank 1 is there for it: it receives
// at 10 or, the receive posted at 3, calls MPI_Waitall at 10. Rank 0 then computes 10 until
// Finalize. If sends wait for no receiver, rank 0 goes on at 4: it is in Finalize at 14, and at its
// end 1 later, 14 from 1 on, in the place of 20.5. The receive ends no earlier for it.
func TestSendsThatWaitForNoReceiver(t *testing.T) {
	q := tracetest.Request(0)
	status := tracetest.Status{Source: 0, Bytes: 1 << 20}
	for name, receive := range map[string]func(r *tracetest.Rank){
		"late receive":       func(r *tracetest.Rank) { r.Call("MPI_Recv", 10, 10.5, tracetest.Args{"source": 0, "status": status}) },
		"receiver elsewhere": func(r *tracetest.Rank) { r.Irecv(3, 3.1, 0, q).Waitall(10, 10.5, tracetest.Requests{q}, status) },
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			b.Rank(0).Init(1, 2).Call("MPI_Send", 4, 10.5, tracetest.Args{"dest": 1}).Finalize(20.5, 21.5)
			receive(b.Rank(1).Init(1, 2))
			b.Rank(1).Finalize(11.5, 21.5)
			lengths := play(t, timeline.Of(b.Open(t)), predict.Scenario{}, predict.Scenario{Buffered: true})
			assert.Equal(t, []int64{20_500_000, 14_000_000}, lengths)
		})
	}
}
