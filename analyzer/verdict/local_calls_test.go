package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestLocalCalls(t *testing.T) {
	assertSays(t, map[string]said{
		"local calls": {verdict.Cause{Kind: verdict.Local, Before: verdict.Call{Function: "MPI_Type_commit"}, Calls: 2000, EachSeconds: 0.002, GainSeconds: new(4.0)}, "Local MPI calls make this job slow: their time goes to MPI_Type_commit (2,000 calls, 2 ms each)." + without},
		"copies":      {verdict.Cause{Kind: verdict.Local, Form: verdict.Copies, Before: verdict.Call{Function: "MPI_Pack"}, Calls: 2000, EachSeconds: 0.002, GainSeconds: new(4.0)}, "Copies of data within ranks make this job slow: their time goes to MPI_Pack (2,000 calls, 2 ms each)." + without},
	})
	assertNames(t, map[string]said{
		"local calls": {verdict.Cause{Kind: verdict.Local, Before: send, GainSeconds: new(4.0)}, "local MPI calls, all in MPI_Send at a.c:10"},
	})
	assertAdvises(t, map[string]advised{
		"local":  {verdict.Cause{Kind: verdict.Local, Before: verdict.Call{Function: "MPI_Type_commit"}}, verdict.Neighbors{}, []string{"MPI_Type_commit neither sends anything nor waits", "reuse"}, "collect"},
		"copies": {verdict.Cause{Kind: verdict.Local, Form: verdict.Copies, Before: verdict.Call{Function: "MPI_Pack"}}, verdict.Neighbors{}, []string{"MPI_Pack copies data", "a derived datatype"}, "reuse"},
	})
}
