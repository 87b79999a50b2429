package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestKernel(t *testing.T) {
	faults := verdict.Cause{Kind: verdict.Kernel, Form: verdict.SystemTime, After: send, Before: wait, Of: 100, Regions: 3, EachSeconds: 0.06, SystemSeconds: 0.03, PageFaults: 9000, GainSeconds: new(4.0)}
	mapped := verdict.Cause{Kind: verdict.Kernel, Form: verdict.SystemTime, After: send, Before: wait, Of: 100, EachSeconds: 0.06, SystemSeconds: 0.03, Bytes: 3 << 20, MemoryLimitHits: 32768, GainSeconds: new(4.0)}
	some := verdict.Cause{Kind: verdict.Kernel, Form: verdict.SystemTime, Ranks: "0-3", After: send, Before: wait, Of: 1, EachSeconds: 0.06, SystemSeconds: 0.03, GainSeconds: new(4.0)}
	assertSays(t, map[string]said{
		"all blocked":          {verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, GainSeconds: new(4.0)}, "Waiting in the kernel makes this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average: they neither run nor are ready to run." + without},
		"all wait for memory":  {verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, MemorySeconds: 3, MemoryLimitHits: 70, GainSeconds: new(4.0)}, "Waiting for memory makes this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average, while their containers waited for memory for 3.0 s and reached their memory limits 70 times." + without},
		"the only one blocked": {verdict.Cause{Kind: verdict.Kernel, Ranks: "0", After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, GainSeconds: new(4.0)}, "Waiting in the kernel makes this job slow: rank 0 is blocked for 4.0 s of the 5.0 s that it spends between MPI_Send at a.c:10 and MPI_Waitall at a.c:20: it neither runs nor is ready to run." + without},
		"page faults":          {faults, "Page faults make this job slow: all ranks alike spend 60 ms on average between MPI_Send at a.c:10 and MPI_Waitall at a.c:20; the kernel works for 30 ms of that, with 9,000 page faults each time; 2 other regions are like it." + without},
		"mapped files":         {mapped, "Files make this job slow: all ranks alike spend 60 ms on average between MPI_Send at a.c:10 and MPI_Waitall at a.c:20; the kernel works for 30 ms of that, with 3.0 MiB read or written meanwhile, and their containers reached their memory limits 32,768 times." + without},
		"system time of some":  {some, "System time makes this job slow: ranks 0-3 spend 60 ms between MPI_Send at a.c:10 and MPI_Waitall at a.c:20; the kernel works for 30 ms of that." + without},
	})
	all := verdict.Cause{Kind: verdict.Kernel, After: send, Before: wait, GainSeconds: new(4.0)}
	assertNames(t, map[string]said{
		"all blocked": {all, "waiting in the kernel between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"page faults": {faults, "page faults between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
		"some":        {some, "system time between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
	})
	assertAdvises(t, map[string]advised{
		"all blocked": {all, verdict.Neighbors{}, []string{"Look at the code that runs between MPI_Send at a.c:10 and MPI_Waitall at a.c:20.", "off-CPU time"}, "OMP_NUM_THREADS"},
		"page faults": {faults, verdict.Neighbors{}, []string{"Look at the code that runs", "They touch new memory there"}, "strace"},
		"mapped":      {mapped, verdict.Neighbors{}, []string{"page faults of mapped ones", "raise the memory limit of their containers"}, "strace"},
		"some":        {some, verdict.Neighbors{}, []string{"strace -c -p"}, "allocate"},
	})
}
