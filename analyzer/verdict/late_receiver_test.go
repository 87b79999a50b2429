package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestLateReceiver(t *testing.T) {
	assertSays(t, map[string]said{
		"not posted":            {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send, GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until the receiver has posted its receive." + without},
		"not posted by one":     {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send, Ranks: "3", GainSeconds: new(4.0)}, "A late receiver makes this job slow: senders wait in MPI_Send at a.c:10 until rank 3 has posted its receive." + without},
		"not posted by several": {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send, Ranks: "3,5", GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until ranks 3,5 have posted their receives." + without},
		"outside MPI":           {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotInside, Before: send, GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until the receiver, which computes, calls MPI again." + without},
		"several outside MPI":   {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotInside, Before: send, Ranks: "3,5", GainSeconds: new(4.0)}, "Late receivers make this job slow: senders wait in MPI_Send at a.c:10 until ranks 3,5, which compute, call MPI again." + without},
		"polls seldom":          {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Ranks: "0", Before: verdict.Call{Function: "MPI_Iprobe"}, EachSeconds: 0.012, GainSeconds: new(4.0)}, "Rank 0 makes this job slow: it polls in MPI_Iprobe only every 12 ms, and is idle in between while others wait for it." + without},
		"all poll seldom":       {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Before: verdict.Call{Function: "MPI_Iprobe"}, EachSeconds: 0.012, GainSeconds: new(4.0)}, "The ranks make this job slow: they poll in MPI_Iprobe only every 12 ms, and are idle in between while others wait for them." + without},
	})
	assertNames(t, map[string]said{
		"polls":     {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Before: send, GainSeconds: new(4.0)}, "seldom polls in MPI_Send at a.c:10"},
		"receivers": {verdict.Cause{Kind: verdict.LateReceiver, Before: send, GainSeconds: new(4.0)}, "late receivers of MPI_Send at a.c:10"},
	})
	assertAdvises(t, map[string]advised{
		"not posted": {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: send}, verdict.Neighbors{}, []string{"Post receives earlier", "replace MPI_Send at a.c:10 by a non-blocking send"}, "MPI_Test"},
		"not inside": {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotInside, Before: send}, verdict.Neighbors{}, []string{"MPI_Test now and then", "replace MPI_Send at a.c:10"}, "Post receives earlier"},
		"late sends": {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.NotPosted, Before: wait, Completes: true}, verdict.Neighbors{}, []string{"Post receives earlier", "complete later what MPI_Waitall at a.c:20 waits for"}, "replace"},
		"polls":      {verdict.Cause{Kind: verdict.LateReceiver, Form: verdict.Seldom, Ranks: "0", Before: send, EachSeconds: 0.012}, verdict.Neighbors{}, []string{"Poll more often in MPI_Send at a.c:10", "it is idle between two polls, 12 ms on average"}, "non-blocking send"},
	})
}
