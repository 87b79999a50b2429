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

// One side of a message of 1 MiB is in a blocking call from 2 on, in units. The other one posts its
// side at 3, or at 1, in a call that returns at once, and is back in MPI at 8. The duration of the
// blocking call shows whether it needed that.
func TestPartnersThatComeBack(t *testing.T) {
	q := tracetest.Request(0)
	big := tracetest.Status{Source: 0, Bytes: 1 << 20}
	const late = 3.0
	for name, test := range map[string]struct {
		receives bool    // the blocking call
		posted   float64 // by the other one
		stays    float64 // the other one in the call that posts
		exit     float64 // of the blocking call
		kind     waitstate.Kind
		waited   float64
	}{
		"send until the receiver is back":           {false, late, 0.1, 8.1, waitstate.LateProgress, 6},
		"send that went on meanwhile":               {false, late, 0.1, 6, waitstate.LateReceiver, 1},
		"send that ended long after":                {false, late, 0.1, 11, waitstate.LateReceiver, 1},
		"receiver that stayed for long":             {false, late, 4.5, 8.1, waitstate.LateReceiver, 1},
		"receiver inside when the message was sent": {false, 1, 1.1, 8.1, waitstate.LateProgress, 6},
		"receive until the sender is back":          {true, late, 0.1, 8.1, waitstate.LateProgress, 6},
		"receive that went on meanwhile":            {true, late, 0.1, 6, waitstate.LateSender, 1},
		"sender inside when the receive was posted": {true, 1, 1.1, 8.1, waitstate.LateProgress, 6},
	} {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(2)
			blocked, other := b.Rank(0).Init(0, 0.5), b.Rank(1).Init(0, 0.5)
			if test.receives {
				big.Source = 1
				blocked.Call("MPI_Recv", 2, test.exit, tracetest.Args{"source": 1, "status": big})
				other.Call("MPI_Isend", test.posted, test.posted+test.stays, tracetest.Args{"dest": 0, "request": q})
				other.Waitall(8, 8.2, tracetest.Requests{q})
			} else {
				big.Source = 0
				blocked.Send(2, test.exit, 1)
				other.Irecv(test.posted, test.posted+test.stays, 0, q).Waitall(8, 8.2, tracetest.Requests{q}, big)
			}
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(12, 13) })
			tr := timeline.Of(b.Open(t))
			found := false
			finder := waitstate.NewFinder(tr, func(s *waitstate.State) {
				if s.Call.Location == 0 && s.Call.Enter == 2*tracetest.Unit {
					found = true
					require.Equal(t, test.kind, s.Kind)
					require.Equal(t, 1, s.Cause)
					require.InDelta(t, test.waited*tracetest.Unit, s.Waited(), 1)
				}
			})
			_, err := match.All(context.Background(), tr, nil, finder, nil)
			require.NoError(t, err)
			require.True(t, found)
		})
	}
}
