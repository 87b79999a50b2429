package causes

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/pass/accounts"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
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
	free := like(a, accounts.Activity{Function: send, Site: 1}, &verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany})
	assert.Equal(t, map[accounts.Activity]bool{{Function: send, Site: 1}: true, {Function: send, Site: 2}: true, {Function: send, Site: 4}: true}, free)
}
