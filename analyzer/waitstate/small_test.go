package waitstate_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/waitstate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// Ten times rank 0 sends 1 KiB at 4, in units, while rank 1 computes until 8. The send lasts until
// 8.1, which the first two of its size do not prove, or until 4.1.
func TestSmallSendsThatWaitForTheirReceivers(t *testing.T) {
	const times, period = 10, 20
	received := tracetest.Status{Source: 0, Bytes: 1024}
	request := tracetest.Request(0)
	receive := func(r *tracetest.Rank, at float64) {
		r.Call("MPI_Recv", at+8, at+8.2, tracetest.Args{"source": 0, "status": received})
	}
	posted := func(r *tracetest.Rank, at float64) {
		r.Irecv(at+3, at+3.1, 0, request).Waitall(at+8, at+8.2, tracetest.Requests{request}, received)
	}
	meanwhile := func(r *tracetest.Rank, at float64) {
		r.Call("MPI_Iprobe", at+5, at+5.1, tracetest.Args{"source": 0, "tag": 9, "flag": 0})
		receive(r, at)
	}
	all := func(int) bool { return true }
	for name, test := range map[string]struct {
		receive func(r *tracetest.Rank, at float64)
		waits   func(i int) bool
		apart   bool // on two hosts
		kind    waitstate.Kind
		found   int
	}{
		"late receive":               {receive, all, false, waitstate.LateReceiver, 8},
		"posted, and computing":      {posted, all, false, waitstate.LateProgress, 8},
		"between hosts":              {receive, all, true, waitstate.LateReceiver, 8},
		"at once":                    {receive, func(int) bool { return false }, false, 0, 0},
		"a fifth ended at once":      {receive, func(i int) bool { return i != 8 && i != 9 }, false, waitstate.LateReceiver, 6},
		"most ended at once":         {receive, func(i int) bool { return i < 2 }, false, 0, 0},
		"the receiver was inside":    {meanwhile, all, false, 0, 0},
		"at once, then until it was": {receive, func(i int) bool { return i > 0 }, false, waitstate.LateReceiver, 5},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			sender, receiver := b.Rank(0).Init(1, 2), b.Rank(1).Init(1, 2)
			if test.apart {
				receiver.Info().Host = "host1"
			}
			for i := range times {
				at := float64(i * period)
				exit := at + 4.1
				if test.waits(i) {
					exit = at + 8.1
				}
				sender.Send(at+4, exit, 1)
				test.receive(receiver, at)
			}
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(times*period, times*period+1) })
			tr := timeline.Of(b.Open(t))
			found := 0
			finder := waitstate.NewFinder(tr, func(s *waitstate.State) {
				if s.Call.Location == 0 && tr.Function(s.Call.Function).Name == "MPI_Send" {
					require.Equal(t, test.kind, s.Kind)
					require.EqualValues(t, 4*tracetest.Unit, s.Waited())
					require.Equal(t, 1, s.Cause)
					found++
				}
			})
			_, err := match.All(context.Background(), tr, nil, finder, nil)
			require.NoError(t, err)
			require.Equal(t, test.found, found)
		})
	}
}
