package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestKernel(t *testing.T) {
	assertSays(t, map[string]said{
		"all blocked":          {verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, GainSeconds: new(4.0)}, "Waiting in the kernel makes this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average: they neither run nor are ready to run." + without},
		"all wait for memory":  {verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, MemorySeconds: 3, MemoryLimitHits: 70, GainSeconds: new(4.0)}, "Waiting for memory makes this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average, while their containers waited for memory for 3.0 s and reached their memory limits 70 times." + without},
		"the only one blocked": {verdict.Cause{Kind: verdict.Kernel, Ranks: "0", After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, GainSeconds: new(4.0)}, "Waiting in the kernel makes this job slow: rank 0 is blocked for 4.0 s of the 5.0 s that it spends between MPI_Send at a.c:10 and MPI_Waitall at a.c:20: it neither runs nor is ready to run." + without},
	})
	all := verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, GainSeconds: new(4.0)}
	assertNames(t, map[string]said{"all blocked": {all, "waiting in the kernel between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"}})
	assertAdvises(t, map[string]advised{"all blocked": {all, verdict.Neighbors{}, []string{"Look at the code that runs between MPI_Send at a.c:10 and MPI_Waitall at a.c:20.", "off-CPU time"}, "OMP_NUM_THREADS"}})
}
