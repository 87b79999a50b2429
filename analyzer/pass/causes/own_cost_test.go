package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Only call sites that are called at least half as often as the costliest one belong to a cause of
// many small messages.
func TestCallSitesLikeTheCostliest(t *testing.T) {
	tr := timeline.Of(tracetest.New(2).Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1).Send(2, 3, 1-i).Recv(3, 4, 1-i, 8).Finalize(5, 6)
	}).Open(t))
	a := newEvidence(&accounts.Accounts{Names: accounts.Names{Trace: tr}, Total: map[accounts.Activity]*accounts.Tally{}}, nil)
	var send uint16
	for id := range uint16(2000) {
		if f := tr.Function(id); f != nil && f.Name == "MPI_Send" {
			send = id
		}
	}
	require.NotZero(t, send)
	for site, count := range map[uint32]uint64{1: 100, 2: 50, 3: 49, 4: 200} {
		a.Total[accounts.Activity{Function: send, Site: site}] = &accounts.Tally{Count: count, Ns: 1000}
	}
	left := remains(a, accounts.Activity{Function: send, Site: 1}, &verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany})
	assert.Equal(t, map[accounts.Activity]float64{{Function: send, Site: 1}: 0, {Function: send, Site: 2}: 0, {Function: send, Site: 4}: 0}, left)
}

// The kernel counted for both ranks that they waited for a CPU for 0.4 of the time that they are in
// calls and computations. Messages need both ranks: without these of 20 · 10 the run would be 0.2
// of that shorter.
func TestMessagesDoNotGainTheLackOfCPUs(t *testing.T) {
	b := tracetest.New(2)
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.At("m.c:1").Init(0, 1)
		for k := range 20 {
			at := 1 + 12*float64(k)
			if i == 0 {
				r.At("m.c:2").Call("MPI_Send", at+2, at+12, tracetest.Args{"dest": 1, "count": 1 << 20, "datatype": "MPI_BYTE"})
			} else {
				r.At("m.c:3").Recv(at+2, at+12, 0, 1<<20)
			}
		}
		r.At("m.c:4").Finalize(241, 242)
		r.Info().Context = []trace.ContextSample{{}, {MonotonicNS: 242 * tracetest.Unit, RunDelayNS: 240 * tracetest.Unit / 10 * 4}}
	})
	inSearch(t, b, func(f *Found) {
		for i := range f.All {
			if h := &f.All[i]; h.Cause.Kind == verdict.Messages {
				assert.InDelta(t, 242-0.2*200, float64(h.length)/tracetest.Unit, 2, h.What) // traces hold rounded measurements
				return
			}
		}
		t.Error("no hypothesis about messages")
	})
}
