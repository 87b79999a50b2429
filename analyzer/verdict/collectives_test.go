package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestCollectives(t *testing.T) {
	assertSays(t, map[string]said{
		"not overlapped":           {verdict.Cause{Kind: verdict.Collectives, Form: verdict.NoOverlap, Before: wait, Completes: true, AheadSeconds: 0.015, Calls: 12, EachSeconds: 0.012, Bytes: 8 << 20, GainSeconds: new(4.0)}, "Non-blocking collectives make this job slow: they are started 15 ms before the wait for them, and yet their time goes to MPI_Waitall at a.c:20 (12 calls, 12 ms each, collectives of 8.0 MiB on average)." + without},
		"a single collective":      {verdict.Cause{Kind: verdict.Collectives, Before: reduce, Calls: 1, EachSeconds: 0.0708, GainSeconds: new(4.0)}, "Collectives make this job slow: their time goes to MPI_Allreduce at a.c:30 (1 call, 70.8 ms)." + without},
		"many collectives":         {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooOften, Before: reduce, Calls: 12000, EachSeconds: 2e-5, Bytes: 8, GainSeconds: new(4.0)}, "Many collectives make this job slow: their time goes to MPI_Allreduce at a.c:30 (12,000 calls, 20 µs each, 8 B on average)." + without},
		"creation":                 {verdict.Cause{Kind: verdict.Collectives, Form: verdict.Creation, Regions: 2, Before: reduce, Calls: 12000, EachSeconds: 2e-5, GainSeconds: new(4.0)}, "MPI objects that are created again and again make this job slow: most of their time goes to MPI_Allreduce at a.c:30 (12,000 calls, 20 µs each)." + without},
		"an operation":             {verdict.Cause{Kind: verdict.Collectives, Form: verdict.OwnOp, Before: reduce, Calls: 120, EachSeconds: 0.009, Bytes: 8, GainSeconds: new(4.0)}, "Reductions with the program's own operation make this job slow: their time goes to MPI_Allreduce at a.c:30 (120 calls, 9 ms each, 8 B on average)." + without},
		"collectives of much data": {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooLarge, Before: reduce, Calls: 120, EachSeconds: 0.02, Bytes: 1 << 20, GainSeconds: new(4.0)}, "Collectives of much data make this job slow: their time goes to MPI_Allreduce at a.c:30 (120 calls, 20 ms each, 1.0 MiB on average)." + without},
	})
	assertNames(t, map[string]said{
		"collectives": {verdict.Cause{Kind: verdict.Collectives, Before: reduce, GainSeconds: new(4.0)}, "collectives, all in MPI_Allreduce at a.c:30"},
		"several":     {verdict.Cause{Kind: verdict.Collectives, Regions: 3, Before: reduce, GainSeconds: new(4.0)}, "collectives, most of all MPI_Allreduce at a.c:30"},
	})
	assertAdvises(t, map[string]advised{
		"often":     {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooOften, Before: reduce}, verdict.Neighbors{}, []string{"Call MPI_Allreduce at a.c:30 less often"}, "less data"},
		"creation":  {verdict.Cause{Kind: verdict.Collectives, Form: verdict.Creation, Before: reduce}, verdict.Neighbors{}, []string{"once, before the loop"}, "less often"},
		"operation": {verdict.Cause{Kind: verdict.Collectives, Form: verdict.OwnOp, Before: reduce}, verdict.Neighbors{}, []string{"MPI_Op_create"}, "less often"},
		"much data": {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooLarge, Before: reduce}, verdict.Neighbors{}, []string{"less data"}, "less often"},
		"overlap":   {verdict.Cause{Kind: verdict.Collectives, Form: verdict.NoOverlap, Before: wait, Completes: true, AheadSeconds: 0.015}, verdict.Neighbors{}, []string{"started 15 ms before", "call MPI_Test", "progress thread", "Persistent requests"}, "fewer"},
		"started":   {verdict.Cause{Kind: verdict.Collectives, Form: verdict.TooOften, Before: wait, Completes: true}, verdict.Neighbors{}, []string{"Start fewer of the collectives that MPI_Waitall at a.c:20 completes"}, "use the non-blocking form"},
	})
}
