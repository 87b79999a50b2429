package verdict_test

import (
	"testing"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
)

func TestFiles(t *testing.T) {
	blocked := verdict.Cause{Kind: verdict.IO, Form: verdict.Blocked, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, Bytes: 1 << 20, GainSeconds: new(4.0)}
	assertSays(t, map[string]said{
		"files":            {verdict.Cause{Kind: verdict.IO, Before: verdict.Call{Function: "MPI_File_write_all"}, Calls: 120, EachSeconds: 0.02, GainSeconds: new(4.0)}, "Files make this job slow: their time goes to MPI_File_write_all (120 calls, 20 ms each)." + without},
		"blocked by files": {blocked, "Files make this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average, with 1.0 MiB read or written meanwhile." + without},
		"all wait for disks": {
			verdict.Cause{Kind: verdict.IO, Form: verdict.Blocked, After: send, Before: wait, EachSeconds: 5, BlockedSeconds: 4, DiskSeconds: 3, GainSeconds: new(4.0)},
			"Files make this job slow: all ranks alike are blocked for 4.0 s of the 5.0 s that they spend between MPI_Send at a.c:10 and MPI_Waitall at a.c:20 each, on average, while their containers waited for disks for 3.0 s." + without,
		},
	})
	assertNames(t, map[string]said{
		"files":            {verdict.Cause{Kind: verdict.IO, Before: reduce, GainSeconds: new(4.0)}, "files, all in MPI_Allreduce at a.c:30"},
		"blocked by files": {blocked, "files between MPI_Send at a.c:10 and MPI_Waitall at a.c:20"},
	})
	assertAdvises(t, map[string]advised{
		"files":       {verdict.Cause{Kind: verdict.IO}, verdict.Neighbors{}, []string{"Write less often"}, "messages"},
		"blocked all": {verdict.Cause{Kind: verdict.IO, Form: verdict.Blocked}, verdict.Neighbors{}, []string{"from a thread of its own"}, "collective"},
	})
}
