package accounts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/cairn-mpi/cairn/analyzer/analyzertest"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// TestWhatNeverCame: rank 0 polls for 40 until its end, with a gap that is too short to be
// computation; rank 1 is in a barrier for 60; rank 2 computes. The time of a test that succeeds
// later is not in vain. All rows together are the time of all ranks.
func TestWhatNeverCame(t *testing.T) {
	b := tracetest.New(3)
	test := func(flag int) tracetest.Args { return tracetest.Args{"request": tracetest.Request(0), "flag": flag} }
	b.Rank(0).Init(0, 10).Irecv(10, 11, 2, 0).Call("MPI_Test", 11, 20, test(0)).
		Call("MPI_Test", 20.05, 30, tracetest.Args{"request": tracetest.Request(0), "flag": 1, "status": tracetest.Status{Source: 2, Bytes: 8}}).
		Irecv(59, 60, 2, 0).Call("MPI_Test", 60, 80, test(0)).Call("MPI_Test", 80.05, 100, test(0)).Ended("after MPI_Test", 100)
	b.Rank(1).Init(0, 10).Unfinished("MPI_Barrier", 40, 100, nil)
	b.Rank(2).Init(0, 10).Send(12, 13, 0).Call("MPI_Comm_rank", 99, 100, tracetest.Args{"rank": 2}).Ended("after MPI_Comm_rank", 100)
	f := analyzertest.Built(t, b)
	total := int64(0)
	for _, row := range f.Ledger.Rows {
		total += row.NS
		switch row.What {
		case "never":
			assert.InDelta(t, 100e6, row.NS, 1e3)
		case "collectives":
			assert.Zero(t, row.NS)
		}
	}
	assert.Equal(t, f.Ledger.TotalNS, total)
}

// TestHangDoesNotCount: after MPI_Init, two ranks compute 10 and 30, meet in a barrier, and then
// wait for each other for 1000. Efficiencies and predictions are those of the first 42: on an ideal
// network 30 are left. With equal work both would enter the barrier at 32, and be there, where they
// hang, at 32.
func TestHangDoesNotCount(t *testing.T) {
	b := tracetest.New(2)
	for i, at := range []float64{22, 42} {
		b.Rank(i).Init(0, 12).Collective("MPI_Barrier", at, 42).
			Unfinished("MPI_Recv", 42, 1042, tracetest.Args{"count": 1, "datatype": "MPI_INT", "source": 1 - i, "tag": 7})
	}
	f := analyzertest.Built(t, b)
	assert.InDelta(t, 1.042, f.RunSeconds, 1e-9)
	assert.InDelta(t, 20.0/42, *f.Efficiency.Parallel, 1e-9)
	assert.InDelta(t, 30.0/42, *f.Efficiency.Communication, 1e-9)
	assert.InDelta(t, 0.030, *f.Efficiency.IdealSeconds, 1e-9)
	for _, w := range f.WhatIf {
		assert.InDelta(t, 1-w.Seconds/0.042, w.Gain, 1e-9, w.What)
		assert.LessOrEqual(t, w.Seconds, 0.042, w.What)
	}
}

// TestTimeAfterTheLastCall: what a rank does after its last call, until it is killed, is neither
// its end of MPI nor known.
func TestTimeAfterTheLastCall(t *testing.T) {
	b := tracetest.New(2)
	b.Rank(0).Init(0, 10).Unfinished("MPI_Barrier", 20, 100, nil)
	b.Rank(1).Init(0, 10).Call("MPI_Comm_rank", 19, 20, tracetest.Args{"rank": 1}).Ended("after MPI_Comm_rank", 100)
	f := analyzertest.Built(t, b)
	for _, row := range f.Ledger.Rows {
		switch row.What {
		case "start-end":
			assert.InDelta(t, 20e6, row.NS, 1e3)
		case "untraced":
			assert.InDelta(t, 80e6, row.NS, 1e3)
		}
	}
}
