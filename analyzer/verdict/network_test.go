package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestNetwork(t *testing.T) {
	assertSays(t, map[string]said{
		"network": {verdict.Cause{Kind: verdict.Network, Before: wait, Calls: 12, EachSeconds: 0.5, GainSeconds: new(4.0)}, "Messages between nodes make this job slow: their time goes to MPI_Waitall at a.c:20 (12 calls, 500 ms each)." + without},
		"segments sent again": {
			verdict.Cause{Kind: verdict.Network, Before: wait, Calls: 12, EachSeconds: 0.5, Retransmits: 312, Segments: 10423, GainSeconds: new(4.0)},
			"Messages between nodes make this job slow: their time goes to MPI_Waitall at a.c:20 (12 calls, 500 ms each); TCP sent 312 of 10,423 segments again (3.0%)." + without,
		},
	})
	assertNames(t, map[string]said{
		"network": {verdict.Cause{Kind: verdict.Network, Before: send, GainSeconds: new(4.0)}, "messages between nodes, all in MPI_Send at a.c:10"},
	})
	assertAdvises(t, map[string]advised{
		"network": {verdict.Cause{Kind: verdict.Network, Before: send}, verdict.Neighbors{}, []string{"on one node", "UCX_TLS"}, "compressed"},
		"lost":    {verdict.Cause{Kind: verdict.Network, Before: send, Retransmits: 312, Segments: 10423}, verdict.Neighbors{}, []string{"where the network loses packets"}, "fewer"},
		"between": {verdict.Cause{Kind: verdict.Network, Form: verdict.TooLarge, Before: send}, verdict.Neighbors{}, []string{"on one node", "Overlap the transfer"}, "fewer"},
	})
}
