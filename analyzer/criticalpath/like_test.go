package criticalpath

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/tracetest"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

// Only call sites that are called at least half as often belong to the costliest one of many small messages, and are counted.
func TestCallSitesLikeTheCostliest(t *testing.T) {
	tr := timeline.Of(tracetest.New(2).Ranks(func(i int, r *tracetest.Rank) {
		r.Init(0, 1).Send(2, 3, 1-i).Recv(3, 4, 1-i, 8).Finalize(5, 6)
	}).Open(t))
	a := &search{input: input{allAccounts: &allAccounts{names: names{trace: tr}, total: map[activity]*tally{}}}}
	var send uint16
	for id := range uint16(2000) {
		if f := tr.Function(id); f != nil && f.Name == "MPI_Send" {
			send = id
		}
	}
	require.NotZero(t, send)
	for site, count := range map[uint32]uint64{1: 100, 2: 50, 3: 49, 4: 200} {
		a.total[activity{function: send, site: site}] = &tally{count: count, ns: 1000}
	}
	free := a.like(activity{function: send, site: 1}, &verdict.Cause{Kind: verdict.Messages, Form: verdict.TooMany})
	assert.Equal(t, map[activity]bool{{function: send, site: 1}: true, {function: send, site: 2}: true, {function: send, site: 4}: true}, free)
}
