package verdict

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
)

func TestSentencesOfStops(t *testing.T) {
	call := func(function, site string) Call { return Call{Function: function, CallSite: site} }
	for want, s := range map[string]Stop{
		"This job was stopped after 3.0 s while it was making progress.": {Seconds: 3},
		"This job was stopped after 9.0 s; in its last 3.0 s rank 0 made tests without success, the last with MPI_Test at a.c:1, ranks 1-2 waited in MPI_Barrier at a.c:2, and rank 3 polled in vain with MPI_Iprobe at a.c:3. Whether it hung is not known: the trace does not show what rank 9 does, since the trace lacks it (ranks 1-2) and whether anybody connects (rank 3).": {
			Seconds: 9, Waited: 3, Ranks: 5, Named: []Who{{Ranks: "0", Count: 1, After: call("MPI_Test", "a.c:1"), Tests: true}},
			Others: []Waiting{{Ranks: "1-2", Count: 2, Call: call("MPI_Barrier", "a.c:2")}, {Ranks: "3", Count: 1, Call: call("MPI_Iprobe", "a.c:3"), Polls: true}},
			Doubts: []Doubt{{Ranks: "1-2", Count: 2, What: "what rank 9 does, since the trace lacks it"}, {Ranks: "3", Count: 1, What: "whether anybody connects"}},
		},
		"This job was stopped after 3.0 s while it was making progress: cairn run was asked to end it (signal 15, SIGTERM).":                                                                              {Seconds: 3, Asked: 15, Code: 143},
		"This job was stopped after 3.0 s while it was making progress: its launcher was ended (signal 9, SIGKILL).":                                                                                      {Seconds: 3, Launcher: 9, Code: 137},
		"This job was stopped after 3.0 s while it was making progress: at a time limit, by the exit code of the command (124, as of timeout).":                                                           {Seconds: 3, Signal: 15, Code: 124},
		"This job was stopped after 3.0 s: all its ranks were ended at once (signal 9, SIGKILL), as launchers do after an MPI error; the exit code of the command was 1.":                                 {Seconds: 3, Signal: 9, Code: 1},
		"This job was stopped after 3.0 s: all its ranks were ended (signal 15, SIGTERM), by whom is not known; the exit code of the command was 139, as of a process that crashed (signal 11, SIGSEGV).": {Seconds: 3, Signal: 15, Code: 139},
		"Rank 3 crashed (signal 11, SIGSEGV) 2.0 s into the run, in MPI_Barrier at a.c:2; the job was stopped: at a time limit, by the exit code of the command (124, as of timeout).": {
			Kind: Crash, Seconds: 2, Ranks: 4, Code: 124, Named: died(Death{}).Named, Death: &Death{Signal: 11, ExitCode: -1, Told: true},
		},
		"At least one of ranks 0-2 was killed (signal 9, SIGKILL) 2.0 s into the run; the launcher ends the others at once, in the same way; or rank 2 made an MPI error.": {
			Kind: Crash, Ranks: 4, Seconds: 2, Death: &Death{Signal: 9, ExitCode: -1, OneOf: true, Or: "rank 2 made an MPI error"}, Named: []Who{{Ranks: "0-2", Count: 3}},
		},
		"This job was stopped after 3.0 s: all its ranks were ended at once (signal 9, SIGKILL), as launchers do after an MPI error (maybe of rank 2 in MPI_Bsend at a.c:7); the exit code of the command was 1.": {
			Seconds: 3, Signal: 9, Code: 1, Ranks: 4, May: []Waiting{{Ranks: "2", Count: 1, Call: call("MPI_Bsend", "a.c:7")}},
		},
		"Rank 0 waited for rank 1 for the last 2.0 s, in MPI_Recv at a.c:1: it was in MPI_Send at a.c:3, and was suspended by a signal or a debugger. Meanwhile rank 2 made no call after MPI_Send at a.c:3 (blocked in the kernel) and rank 3 waited in MPI_Recv at a.c:2. This job was stopped after 3.0 s; whether it would have gone on is not known.": {
			Form: Missing, Seconds: 3, Waited: 2, Ranks: 4,
			Named:  []Who{{Ranks: "1", Count: 1, In: call("MPI_Send", "a.c:3"), Activity: Suspended}, {Ranks: "2", Count: 1, After: call("MPI_Send", "a.c:3"), Activity: InKernel}},
			Others: []Waiting{{Ranks: "0", Count: 1, Call: call("MPI_Recv", "a.c:1")}, {Ranks: "3", Count: 1, Call: call("MPI_Recv", "a.c:2")}},
		},
		"Rank 3 was killed for lack of memory 2.0 s into the run, in MPI_Barrier at a.c:2 (the limit of its container is 2.0 GiB; it was seen with 1.9 GiB).":             died(Death{Signal: 9, ExitCode: -1, OutOfMemory: true, MemoryLimit: 2 << 30, MemoryUsed: 19 << 30 / 10}),
		"Rank 3 was killed for lack of memory 2.0 s into the run, in MPI_Barrier at a.c:2.":                                                                               died(Death{Signal: 9, ExitCode: -1, OutOfMemory: true}),
		"Rank 3 was killed (signal 9, SIGKILL) 2.0 s into the run, in MPI_Barrier at a.c:2.":                                                                              died(Death{Signal: 9, ExitCode: -1}),
		"At least one of ranks 0-2 was killed (signal 9, SIGKILL) 2.0 s into the run; the launcher ends the others at once, in the same way.":                             {Kind: Crash, Ranks: 4, Seconds: 2, Death: &Death{Signal: 9, ExitCode: -1, OneOf: true}, Named: []Who{{Ranks: "0-2", Count: 3}}},
		"Rank 3 ended the job with an MPI error (MPI_ERR_TRUNCATE) in MPI_Barrier at a.c:2, 2.0 s into the run.":                                                          died(Death{ExitCode: 15, Failed: true, Class: "MPI_ERR_TRUNCATE"}),
		"Rank 3 ended the job with an MPI error (MPI_ERR_TRUNCATE, by the exit code of the launcher) in MPI_Barrier at a.c:2, 2.0 s into the run.":                        died(Death{ExitCode: -1, Failed: true, Class: "MPI_ERR_TRUNCATE"}),
		"Rank 3 ended the job with exit code 1 in MPI_Barrier at a.c:2, 2.0 s into the run.":                                                                              died(Death{ExitCode: 1, Failed: true}),
		"Rank 3 left without MPI_Finalize (exit code 3, without exit handlers: by _exit, quick_exit, or as another program) 2.0 s into the run, in MPI_Barrier at a.c:2.": died(Death{ExitCode: 3, Quick: true}),
		"Rank 3 executed another program (sleep) without MPI_Finalize 2.0 s into the run, in MPI_Barrier at a.c:2.":                                                       died(Death{ExitCode: 0, Quick: true, Program: "sleep"}),
		"All 4 ranks (exit code 0) left without MPI_Finalize after 3.0 s.":                                                                                                {Seconds: 3, Left: "all 4 ranks (exit code 0)"},
		"This job hung for its last 41.0 s: 9 ranks waited for each other in a circle, all in MPI_Send at a.c:1 (rank 0: to rank 1, tag 3, MPI_COMM_WORLD): rank 0 for rank 1, rank 0 for rank 1, rank 0 for rank 1, rank 0 for rank 1, and so on.": {
			Kind: Hang, Form: Cycle, Waited: 41, Ranks: 9, Cycle: repeat(9, Waiting{Ranks: "0", Count: 1, Rank: "1", Call: call("MPI_Send", "a.c:1"), For: "to rank 1, tag 3, MPI_COMM_WORLD"}),
		},
		"This job hung for its last 41.0 s: rank 0 waited for itself in MPI_Recv at a.c:1 (from rank 0, any tag, MPI_COMM_WORLD).": {
			Kind: Hang, Form: Cycle, Waited: 41, Ranks: 1, Cycle: []Waiting{{Ranks: "0", Count: 1, Rank: "0", Call: call("MPI_Recv", "a.c:1"), For: "from rank 0, any tag, MPI_COMM_WORLD"}},
		},
		"This job hung: rank 5 never received what rank 4 had been sending, for the last 2.0 s, in MPI_Ssend at a.c:1 (to rank 5, tag 1, MPI_COMM_WORLD); it had come through MPI_Finalize by then.": {
			Kind: Hang, Form: Missing, Waited: 2, Ranks: 6, Send: true, Call: call("MPI_Ssend", "a.c:1"), Named: []Who{{Ranks: "5", Count: 1, Gone: true}},
			Others: []Waiting{{Ranks: "4", Count: 1, Call: call("MPI_Ssend", "a.c:1"), For: "to rank 5, tag 1, MPI_COMM_WORLD"}},
		},
		"Ranks 2-3 died 2.0 s into the run, without a crash signal or an exit code: they were killed (for lack of memory, say) or called _exit, in MPI_Barrier at a.c:2.": {
			Kind: Crash, Seconds: 2, Ranks: 4, Named: []Who{{Ranks: "2-3", Count: 2, In: call("MPI_Barrier", "a.c:2")}}, Death: &Death{ExitCode: -1},
		},
		"Rank 3 was killed (signal 9, SIGKILL) 0.4 s into the run, after MPI_Barrier at a.c:2.":                 ended(0.38, 0.04, Death{Signal: 9, ExitCode: -1}),
		"Rank 3 was killed (signal 9, SIGKILL) 0.4 s into the run, at least 0.3 s after MPI_Barrier at a.c:2.":  ended(0.38, 0.34, Death{Signal: 9, ExitCode: -1}),
		"Rank 3 left without MPI_Finalize (exit code 3) 380 ms into the run, 40 ms after MPI_Barrier at a.c:2.": ended(0.38, 0.04, Death{ExitCode: 3, Exact: true}),
		"Rank 3 ended the job with MPI_Abort (error code 7), 380 ms into the run.":                              ended(0.38, 0.04, Death{ExitCode: -1, Abort: true, Code: "7"}),
		"Rank 2 (pod w-1, node b) was ended by a signal (signal 24, SIGXCPU) 2.0 s into the run, in MPI_Barrier at a.c:2.": {
			Kind: Crash, Seconds: 2, Ranks: 4, Named: []Who{{Ranks: "2", Count: 1, Where: " (pod w-1, node b)", In: call("MPI_Barrier", "a.c:2")}}, Death: &Death{Signal: 24, ExitCode: -1},
		},
	} {
		require.Equal(t, want, s.Sentence())
		require.NotEmpty(t, s.Advice())
	}
}

func repeat[T any](n int, v T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// died returns the death of rank 3 of 4 in a barrier.
func died(d Death) Stop {
	return Stop{Kind: Crash, Seconds: 2, Ranks: 4, Named: []Who{{Ranks: "3", Count: 1, In: Call{Function: "MPI_Barrier", CallSite: "a.c:2"}}}, Death: &d}
}

// ended returns the end of rank 3, so long after the start of the run and after its last call.
func ended(at, after float64, d Death) Stop {
	who := Who{Ranks: "3", Count: 1, After: Call{Function: "MPI_Barrier", CallSite: "a.c:2"}, Seconds: after}
	return Stop{Kind: Crash, Seconds: at, Ranks: 4, Named: []Who{who}, Death: &d}
}

func TestAfterFinalize(t *testing.T) {
	require.Empty(t, AfterFinalize(nil, "All ranks"))
	require.Empty(t, AfterFinalize(&trace.Launcher{}, "All ranks"))
	require.Equal(t, "All ranks completed MPI_Finalize, but the exit code of the command was 3.", AfterFinalize(&trace.Launcher{ExitCode: 3}, "All ranks"))
	require.Equal(t, "All ranks completed MPI_Finalize, but the exit code of the command was 139, as of a process that crashed (signal 11, SIGSEGV).", AfterFinalize(&trace.Launcher{ExitCode: 139}, "All ranks"))
	require.Equal(t, "All ranks completed MPI_Finalize; the command was ended by a signal (signal 9, SIGKILL).", AfterFinalize(&trace.Launcher{ExitCode: 137, Signal: 9}, "All ranks"))
	require.Equal(t, "All ranks completed MPI_Finalize; then cairn run was asked to end the command (signal 15, SIGTERM).", AfterFinalize(&trace.Launcher{ExitCode: 143, Signal: 15, Asked: 15}, "All ranks"))
}
