package stopped

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

type args = tracetest.Args

// begun returns a trace of n ranks that have initialized MPI and made ten steps of a loop, up to
// time 110 ms.
func begun(n int) *tracetest.Builder {
	return tracetest.New(n).Ranks(func(_ int, r *tracetest.Rank) {
		r.At("main.c:10").Call("MPI_Init", 0, 10, nil)
		for i := range 10 {
			at := float64(10 + 10*i)
			r.At("main.c:20").Call("MPI_Allreduce", at+9, at+10, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
		}
	})
}

// end makes a rank return from MPI_Finalize.
func end(r *tracetest.Rank, at float64) { r.At("main.c:99").Call("MPI_Finalize", at, at+1, nil) }

// look sets what a rank was seen to do in its last second: its state, and its CPU time in ms.
func look(r *tracetest.Rank, state byte, ran int64) {
	r.Info().End.Look = trace.Look{Age: 2e8, Watched: 1e9, Ran: ran * 1e6, State: state}
}

func receive(peer any, tag any) args {
	return args{"count": 1, "datatype": "MPI_INT", "source": peer, "tag": tag}
}

func send(peer, tag int) args {
	return args{"count": 1, "datatype": "MPI_INT", "dest": peer, "tag": tag}
}

func endOf(t *testing.T, b *tracetest.Builder) *Ending {
	t.Helper()
	f, err := findEnding(context.Background(), timeline.Of(b.Open(t)), nil)
	require.NoError(t, err)
	return f
}

// A stoppedJob is a job after its first ten steps, and the expected findings on its end.
type stoppedJob struct {
	ranks int
	job   func(b *tracetest.Builder)
	text  string // the verdict
	cycle []int  // the ranks that waited for each other
	named string // the ranks that the verdict names
}

// checkEndings checks that all jobs end in this kind and form.
func checkEndings(t *testing.T, kind verdict.Kind, form verdict.Form, jobs map[string]stoppedJob) {
	t.Helper()
	for name, c := range jobs {
		t.Run(name, func(t *testing.T) {
			b := begun(c.ranks)
			c.job(b)
			f := endOf(t, b)
			require.NotNil(t, f)
			assert.Equal(t, c.text, f.Text)
			assert.Equal(t, kind, f.Kind)
			assert.Equal(t, form, f.Form)
			assert.Equal(t, c.cycle, f.Cycle)
			assert.Equal(t, c.named, f.Named)
			assert.NotEmpty(t, f.Advice)
			assert.Len(t, f.Ranks, c.ranks)
		})
	}
}

func TestCycles(t *testing.T) { checkEndings(t, verdict.Hang, verdict.Cycle, cycles) }

func TestMissingRanks(t *testing.T) { checkEndings(t, verdict.Hang, verdict.Missing, missingRanks) }

func TestAwaitedRanks(t *testing.T) { checkEndings(t, "", verdict.Missing, awaited) }

func TestMismatches(t *testing.T) { checkEndings(t, verdict.Hang, verdict.Mismatch, mismatches) }

func TestCrashes(t *testing.T) { checkEndings(t, verdict.Crash, "", crashes) }

func TestNeitherHangNorCrash(t *testing.T) { checkEndings(t, "", "", harmless) }

// cycles are jobs in which ranks waited for each other.
var cycles = map[string]stoppedJob{
	"two receive first": {
		4, func(b *tracetest.Builder) {
			b.Rank(0).At("ring.c:41").Unfinished("MPI_Recv", 120, 6120, receive(1, 7))
			b.Rank(1).At("ring.c:42").Unfinished("MPI_Recv", 121, 6120, receive(0, 8))
			b.Rank(2).At("ring.c:50").Unfinished("MPI_Barrier", 115, 6120, nil)
			b.Rank(3).At("ring.c:50").Unfinished("MPI_Barrier", 115, 6120, nil)
		},
		"This job hung for its last 6.0 s: rank 0 waited in MPI_Recv at ring.c:41 (from rank 1, tag 7, MPI_COMM_WORLD), and rank 1 waited in MPI_Recv at ring.c:42 (from rank 0, tag 8, MPI_COMM_WORLD): they waited for each other. Meanwhile the other 2 ranks waited in MPI_Barrier at ring.c:50.",
		[]int{0, 1}, "0-1",
	},
	"the shortest of two circles": {
		5, func(b *tracetest.Builder) {
			for i, to := range []int{1, 2, 0, 4, 3} {
				b.Rank(i).At("a.c:1").Unfinished("MPI_Ssend", 120, 1120, send(to, 1))
			}
		},
		"This job hung for its last 1.0 s: rank 3 waited in MPI_Ssend at a.c:1 (to rank 4, tag 1, MPI_COMM_WORLD), and rank 4 waited in MPI_Ssend at a.c:1 (to rank 3, tag 1, MPI_COMM_WORLD): they waited for each other. Meanwhile the other 3 ranks waited in MPI_Ssend at a.c:1.",
		[]int{3, 4}, "3-4",
	},
	"requests, of which one is done": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Call("MPI_Isend", 111, 112, args{"count": 1, "datatype": "MPI_INT", "dest": 1, "tag": 5, "request": tracetest.Request(0)})
			for i := range 3 {
				left := (i + 2) % 3
				r := b.Rank(i).At("a.c:2")
				if i == 1 {
					r.Call("MPI_Irecv", 113, 114, args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 5, "request": tracetest.Request(1)})
				}
				r.Call("MPI_Irecv", 114, 115, args{"count": 1, "datatype": "MPI_INT", "source": left, "tag": 6, "request": tracetest.Request(2)})
				list := tracetest.Requests{2}
				if i == 1 {
					list = tracetest.Requests{1, 2}
				}
				r.At("a.c:3").Unfinished("MPI_Waitall", 120, 2120, args{"count": len(list), "array_of_requests": list})
			}
		},
		"This job hung for its last 2.0 s: 3 ranks waited for each other in a circle, all in MPI_Waitall at a.c:3 (rank 0: from rank 2, tag 6, MPI_COMM_WORLD): rank 0 for rank 2, rank 2 for rank 1, and rank 1 for rank 0.",
		[]int{0, 2, 1}, "0-2",
	},
	"any source of ranks that all wait": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 1120, receive("MPI_ANY_SOURCE", "MPI_ANY_TAG"))
			b.Rank(1).At("a.c:2").Unfinished("MPI_Recv", 120, 1120, receive(0, 1))
			b.Rank(2).At("a.c:2").Unfinished("MPI_Recv", 120, 1120, receive(0, 1))
		},
		"This job hung for its last 1.0 s: rank 0 waited in MPI_Recv at a.c:1 (from any rank, any tag, MPI_COMM_WORLD), and rank 1 waited in MPI_Recv at a.c:2 (from rank 0, tag 1, MPI_COMM_WORLD): they waited for each other. Meanwhile rank 2 waited in MPI_Recv at a.c:2 (from rank 0, tag 1, MPI_COMM_WORLD).",
		[]int{0, 1}, "0-1",
	},
	"a message with another tag": {
		2, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Call("MPI_Send", 111, 112, send(1, 8))
			b.Rank(0).At("a.c:2").Unfinished("MPI_Recv", 120, 1120, receive(1, 9))
			b.Rank(1).At("a.c:3").Unfinished("MPI_Recv", 120, 1120, receive(0, 7))
		},
		"This job hung for its last 1.0 s: rank 0 waited in MPI_Recv at a.c:2 (from rank 1, tag 9, MPI_COMM_WORLD), and rank 1 waited in MPI_Recv at a.c:3 (from rank 0, tag 7, MPI_COMM_WORLD): they waited for each other. Rank 0 had sent to rank 1 with tag 8 on MPI_COMM_WORLD by MPI_Send at a.c:1, which nobody received.",
		[]int{0, 1}, "0-1",
	},
	"a partition that is never ready": {
		2, func(b *tracetest.Builder) {
			parts := func(to string, peer, request int) args {
				return args{"partitions": 2, "count": 1, "datatype": "MPI_INT", to: peer, "tag": 3, "request": tracetest.Request(request)}
			}
			b.Rank(0).Call("MPI_Psend_init", 111, 112, parts("dest", 1, 1)).Call("MPI_Start", 112, 113, args{"request": tracetest.Request(1)}).
				Call("MPI_Pready", 113, 114, args{"partition": 0, "request": tracetest.Request(1)}).
				At("a.c:1").Unfinished("MPI_Wait", 120, 1120, args{"request": tracetest.Request(1)})
			b.Rank(1).Call("MPI_Precv_init", 111, 112, parts("source", 0, 2)).Call("MPI_Start", 112, 113, args{"request": tracetest.Request(2)}).
				At("a.c:2").Unfinished("MPI_Wait", 120, 1120, args{"request": tracetest.Request(2)})
		},
		"This job hung for its last 1.0 s: rank 0 waited for itself in MPI_Wait at a.c:1 (to rank 1, tag 3, MPI_COMM_WORLD). Meanwhile rank 1 waited in MPI_Wait at a.c:2 (from rank 0, tag 3, MPI_COMM_WORLD).",
		[]int{0}, "0",
	},
	"an intercommunicator": {
		2, func(b *tracetest.Builder) {
			sides := []int{b.Comm("01acecb507ab+0c40fc912bea#5.0", 0), b.Comm("01acecb507ab+0c40fc912bea#5.0", 1)}
			for i, side := range sides {
				comm := tracetest.Comm(side)
				b.Communicator(side).Remote = trace.NewRankList([]int{1 - i})
				b.Rank(i).Call("MPI_Intercomm_create", 111, 112, args{"newintercomm": comm}).
					At("a.c:1").Unfinished("MPI_Recv", 120, 1120, args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 6, "comm": comm})
			}
		},
		"This job hung for its last 1.0 s: rank 0 waited in MPI_Recv at a.c:1 (from rank 1, tag 6, intercommunicator of rank 0 and rank 1), and rank 1 waited in MPI_Recv at a.c:1 (from rank 0, tag 6, intercommunicator of rank 0 and rank 1): they waited for each other.",
		[]int{0, 1}, "0-1",
	},
	"an intercommunicator that is created with two tags": {
		2, func(b *tracetest.Builder) {
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.At("a.c:1").Unfinished("MPI_Intercomm_create", 120, 1120, args{
					"local_comm": "MPI_COMM_SELF", "local_leader": 0, "peer_comm": "MPI_COMM_WORLD", "remote_leader": 1 - i, "tag": 5 + i,
				})
			})
		},
		"This job hung for its last 1.0 s: rank 0 waited in MPI_Intercomm_create at a.c:1 (remote leader rank 1, tag 5, MPI_COMM_SELF), and rank 1 waited in MPI_Intercomm_create at a.c:1 (remote leader rank 0, tag 6, MPI_COMM_SELF): they waited for each other.",
		[]int{0, 1}, "0-1",
	},
	"one does not disconnect": {
		3, func(b *tracetest.Builder) {
			comm := b.Comm("other", 0, 1, 2)
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.At("a.c:1").Call("MPI_Comm_dup", 111, 113, args{"newcomm": tracetest.Comm(comm)})
				if i < 2 {
					r.At("a.c:2").Unfinished("MPI_Comm_disconnect", 120, 3120, args{"comm": tracetest.Comm(comm)})
				} else {
					r.At("a.c:3").Unfinished("MPI_Barrier", 120, 3120, nil)
				}
			})
		},
		"This job hung for its last 3.0 s: rank 0 waited in MPI_Comm_disconnect at a.c:2 (other), and rank 2 waited in MPI_Barrier at a.c:3 (MPI_COMM_WORLD): they waited for each other. Meanwhile rank 1 waited in MPI_Comm_disconnect at a.c:2 (other).",
		[]int{0, 2}, "0,2",
	},
	"another communicator": {
		2, func(b *tracetest.Builder) {
			comm := b.Comm("other", 0, 1)
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.At("a.c:1").Call("MPI_Comm_dup", 111, 113, args{"newcomm": tracetest.Comm(comm)})
			})
			b.Rank(0).At("a.c:2").Unfinished("MPI_Barrier", 120, 3120, args{"comm": tracetest.Comm(comm)})
			b.Rank(1).At("a.c:3").Unfinished("MPI_Barrier", 120, 3120, nil)
		},
		"This job hung for its last 3.0 s: rank 0 waited in MPI_Barrier at a.c:2 (other), and rank 1 waited in MPI_Barrier at a.c:3 (MPI_COMM_WORLD): they waited for each other.",
		[]int{0, 1}, "0-1",
	},
}

// awaited are jobs in which ranks waited for one that was outside MPI, or made other calls.
var awaited = map[string]stoppedJob{
	"one never comes": {
		4, func(b *tracetest.Builder) {
			for i := range 3 {
				b.Rank(i).At("solve.c:88").Unfinished("MPI_Allreduce", 120, 5120, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
			}
			b.Rank(3).At("solve.c:70").Call("MPI_Comm_rank", 111, 112, args{"rank": 3}).Ended("after MPI_Comm_rank", 5112)
			look(b.Rank(3), 'R', 990)
		},
		"The other 3 ranks waited for rank 3 for the last 5.0 s, in MPI_Allreduce at solve.c:88 (MPI_COMM_WORLD): it made no MPI call after MPI_Comm_rank at solve.c:70, and was running on a CPU. This job was stopped after 5.1 s; whether it would have gone on is not known.",
		[]int{}, "3",
	},
	"one never sends": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 5120, receive(1, 4))
			b.Rank(1).Ended("after MPI_Allreduce", 5120)
			b.Rank(2).At("a.c:2").Unfinished("MPI_Recv", 120, 5120, receive(0, 4))
			look(b.Rank(1), 'S', 10)
		},
		"Rank 0 waited for rank 1 for the last 5.0 s, in MPI_Recv at a.c:1 (from rank 1, tag 4, MPI_COMM_WORLD): it made no MPI call after MPI_Allreduce at main.c:20, and was blocked in the kernel. Meanwhile rank 2 waited in MPI_Recv at a.c:2 (from rank 0, tag 4, MPI_COMM_WORLD). This job was stopped after 5.1 s; whether it would have gone on is not known.",
		[]int{}, "1",
	},
	"one never comes to MPI_Finalize": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("main.c:99").Unfinished("MPI_Finalize", 120, 5120, nil)
			b.Rank(1).Ended("after MPI_Allreduce", 5120)
			b.Rank(2).At("main.c:99").Unfinished("MPI_Finalize", 120, 5120, nil)
		},
		"The other 2 ranks waited for rank 1 for the last 5.0 s, in MPI_Finalize at main.c:99 (MPI_COMM_WORLD): it made no MPI call after MPI_Allreduce at main.c:20. This job was stopped after 5.1 s; whether it would have gone on is not known.",
		[]int{}, "1",
	},
	"one never begins an epoch": {
		2, func(b *tracetest.Builder) {
			b.Ranks(func(_ int, r *tracetest.Rank) {
				r.Call("MPI_Win_create", 111, 112, args{"win": tracetest.Win(0)})
			})
			b.Rank(0).Call("MPI_Comm_group", 112, 113, args{"group": tracetest.Group(9)}).
				Call("MPI_Group_incl", 113, 114, args{"group": tracetest.Group(9), "n": 1, "ranks": []int{1}, "newgroup": tracetest.Group(1)}).
				At("a.c:1").Unfinished("MPI_Win_start", 120, 5120, args{"win": tracetest.Win(0), "group": tracetest.Group(1)})
			b.Rank(1).Ended("after MPI_Win_create", 5120)
		},
		"Rank 0 waited for rank 1 for the last 5.0 s, in MPI_Win_start at a.c:1 (for rank 1, MPI_COMM_WORLD): it made no MPI call after MPI_Win_create at main.c:20. This job was stopped after 5.1 s; whether it would have gone on is not known.",
		[]int{}, "1",
	},
	"two are suspended, one goes on elsewhere": {
		4, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Barrier", 120, 5120, nil)
			for i := 1; i < 3; i++ {
				b.Rank(i).Ended("after MPI_Allreduce", 5120)
				look(b.Rank(i), 'T', 0)
			}
			for at := 120.0; at < 5120; at += 100 {
				b.Rank(3).At("b.c:1").Call("MPI_Iprobe", at, at+1, receive("MPI_ANY_SOURCE", 1))
			}
			b.Rank(3).Ended("after MPI_Iprobe", 5120)
		},
		"Rank 0 waited for ranks 1-2 for the last 5.0 s, in MPI_Barrier at a.c:1 (MPI_COMM_WORLD): they made no MPI call after MPI_Allreduce at main.c:20, and were suspended by a signal or a debugger. This job was stopped after 5.1 s; whether it would have gone on is not known.",
		[]int{}, "1-2",
	},
	"one goes on with calls": {
		3, func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("a.c:1").Unfinished("MPI_Barrier", 120, 5120, nil)
			}
			for at := 120.0; at < 5110; at += 10 {
				b.Rank(2).At("a.c:3").Call("MPI_Win_flush", at, at+1, args{"rank": 0, "win": tracetest.Win(0)})
			}
			b.Rank(2).Ended("after MPI_Win_flush", 5120)
		},
		"The other 2 ranks waited for rank 2 for the last 5.0 s, in MPI_Barrier at a.c:1 (MPI_COMM_WORLD): it went on making MPI calls, the last MPI_Win_flush at a.c:3. This job was stopped after 5.1 s; whether it would have gone on is not known.",
		[]int{}, "2",
	},
}

// missingRanks are jobs in which ranks waited for one that had left, or was on its way out.
var missingRanks = map[string]stoppedJob{
	"one is in MPI_Finalize": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 5120, receive(2, 4))
			b.Rank(1).At("main.c:99").Unfinished("MPI_Finalize", 120, 5120, nil)
			b.Rank(2).At("main.c:99").Unfinished("MPI_Finalize", 120, 5120, nil)
		},
		"This job hung: rank 2 never sent what rank 0 had been waiting for, for the last 5.0 s, in MPI_Recv at a.c:1 (from rank 2, tag 4, MPI_COMM_WORLD); it was in MPI_Finalize at main.c:99. Meanwhile rank 1 waited in MPI_Finalize at main.c:99 (MPI_COMM_WORLD).",
		[]int{}, "2",
	},
	"one does not create a communicator with the others": {
		3, func(b *tracetest.Builder) {
			b.Ranks(func(i int, r *tracetest.Rank) {
				if i == 2 {
					end(r, 120)
					return
				}
				r.Call("MPI_Comm_group", 111, 112, args{"group": tracetest.Group(1)}).
					At("a.c:1").Unfinished("MPI_Comm_create_group", 120, 5120, args{"group": tracetest.Group(1), "tag": 4})
			})
		},
		"This job hung: rank 2 never came to the MPI_Comm_create_group at a.c:1 (MPI_COMM_WORLD), in which the other 2 ranks waited for the last 5.0 s; it had come through MPI_Finalize by then.",
		[]int{}, "2",
	},
	"one has left": {
		2, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 5120, receive(1, 4))
			end(b.Rank(1), 120)
		},
		"This job hung: rank 1 never sent what rank 0 had been waiting for, for the last 5.0 s, in MPI_Recv at a.c:1 (from rank 1, tag 4, MPI_COMM_WORLD); it had come through MPI_Finalize by then.",
		[]int{}, "1",
	},
}

// mismatches are jobs in which ranks called different collective operations.
var mismatches = map[string]stoppedJob{
	"another function": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Allreduce", 120, 3120, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
			b.Rank(1).At("a.c:2").Unfinished("MPI_Barrier", 120, 3120, nil)
			b.Rank(2).At("a.c:1").Unfinished("MPI_Allreduce", 120, 3120, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
		},
		"This job hung in collective calls that do not match, for its last 3.0 s: as collective number 11 on MPI_COMM_WORLD, rank 1 called MPI_Barrier at a.c:2, but the other 2 ranks called MPI_Allreduce at a.c:1.",
		[]int{}, "1",
	},
	"another root": {
		3, func(b *tracetest.Builder) {
			for i := range 3 {
				b.Rank(i).At("a.c:1").Unfinished("MPI_Bcast", 120, 3120, args{"count": 4, "datatype": "MPI_INT", "root": i / 2})
			}
		},
		"This job hung in collective calls that do not match, for its last 3.0 s: as collective number 11 on MPI_COMM_WORLD, rank 2 called MPI_Bcast at a.c:1 with root 1, but the other 2 ranks called MPI_Bcast at a.c:1 with root 0.",
		[]int{}, "2",
	},
	"the last sign of life of some is older": {
		3, func(b *tracetest.Builder) {
			for i := range 3 {
				b.Rank(i).At("a.c:1").Unfinished("MPI_Bcast", 120, 3120-700*float64(i%2), args{"count": 4, "datatype": "MPI_INT", "root": i / 2})
			}
		},
		"This job hung in collective calls that do not match, for its last 3.0 s: as collective number 11 on MPI_COMM_WORLD, rank 2 called MPI_Bcast at a.c:1 with root 1, but the other 2 ranks called MPI_Bcast at a.c:1 with root 0.",
		[]int{}, "2",
	},
}

// crashes are jobs that lost ranks.
var crashes = map[string]stoppedJob{
	"a crash": {
		3, func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("main.c:20").Unfinished("MPI_Allreduce", 119, 2400, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
			}
			b.Rank(2).Ended("after MPI_Allreduce", 2110).Info().End.Signal = 11
		},
		"Rank 2 crashed (signal 11, SIGSEGV) 2.1 s into the run, at least 2.0 s after MPI_Allreduce at main.c:20; then the other 2 ranks waited in MPI_Allreduce at main.c:20.",
		[]int{}, "2",
	},
	"an exit": {
		3, func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("main.c:20").Unfinished("MPI_Allreduce", 119, 2400, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
			}
			e := b.Rank(2).Ended("after MPI_Allreduce", 120).Info().End
			e.ExitCode, e.CalledExit = 3, true
		},
		"Rank 2 left without MPI_Finalize (exit code 3) 120 ms into the run, 10 ms after MPI_Allreduce at main.c:20; then the other 2 ranks waited in MPI_Allreduce at main.c:20; the rest of the job ended 2.3 s later.",
		[]int{}, "2",
	},
	"another program, which the launcher ends": {
		3, func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("main.c:20").Unfinished("MPI_Allreduce", 119, 2400, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"}).Info().End.Signal = 15
			}
			e := b.Rank(2).Ended("after MPI_Allreduce"+trace.ThenExecuted+"sleep", 1120).Info().End
			e.Signal, e.Order = 15, 1
		},
		"Rank 2 executed another program (sleep) without MPI_Finalize 1.1 s into the run, at least 1.0 s after MPI_Allreduce at main.c:20; then the other 2 ranks waited in MPI_Allreduce at main.c:20; the rest of the job ended 1.3 s later.",
		[]int{}, "2",
	},
	"an abort": {
		2, func(b *tracetest.Builder) {
			b.Rank(0).At("main.c:20").Unfinished("MPI_Barrier", 119, 220, nil)
			b.Rank(1).At("main.c:66").Unfinished("MPI_Abort", 130, 220, args{"errorcode": 7})
		},
		"Rank 1 ended the job with MPI_Abort (error code 7) at main.c:66, 130 ms into the run; then rank 0 waited in MPI_Barrier at main.c:20 (MPI_COMM_WORLD).",
		[]int{}, "1",
	},
	"a lost pod is no hang": {
		4, func(b *tracetest.Builder) {
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Info().Pod = []string{"w-0", "w-1"}[i/2]
				if i < 2 {
					r.At("main.c:20").Unfinished("MPI_Barrier", 119, 60000, nil)
				} else {
					r.At("main.c:20").Unfinished("MPI_Barrier", 119, 1500+float64(i), nil)
				}
			})
		},
		"Pod w-1 was lost 1.5 s into the run, with ranks 2-3; then the other 2 ranks waited in MPI_Barrier at main.c:20; the rest of the job ended 58.5 s later.",
		[]int{}, "2-3",
	},
	"a pod is lost without a word": {
		4, func(b *tracetest.Builder) {
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Info().Pod = []string{"w-0", "w-1"}[i/2]
				if i < 2 {
					r.At("main.c:20").Unfinished("MPI_Barrier", 31000, 60000, nil)
				} else {
					r.Ended(trace.Running, 1500)
				}
			})
		},
		"Pod w-1 was lost, with ranks 2-3; the last that is stored of it is from 1.5 s into the run; then the other 2 ranks waited in MPI_Barrier at main.c:20; the rest of the job ended 58.5 s later.",
		[]int{}, "2-3",
	},
	"one process is killed while the others come to a barrier": {
		3, func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("main.c:20").Unfinished("MPI_Barrier", 1119, 2200, nil)
			}
			b.Rank(2).At("main.c:20").Unfinished("MPI_Barrier", 119, 1500, nil)
		},
		"Rank 2 died 1.5 s into the run, without a crash signal or an exit code: it was killed (for lack of memory, say) or called _exit, in MPI_Barrier at main.c:20; then the other 2 ranks waited in MPI_Barrier at main.c:20; the rest of the job ended 700 ms later.",
		[]int{}, "2",
	},
	"one process is killed": {
		3, func(b *tracetest.Builder) {
			for i := range 2 {
				b.Rank(i).At("main.c:20").Unfinished("MPI_Barrier", 119, 60000, nil)
			}
			b.Rank(2).Ended("after MPI_Allreduce", 1500)
		},
		"Rank 2 died 1.5 s into the run, without a crash signal or an exit code: it was killed (for lack of memory, say) or called _exit, at least 1.4 s after MPI_Allreduce at main.c:20; then the other 2 ranks waited in MPI_Barrier at main.c:20; the rest of the job ended 58.5 s later.",
		[]int{}, "2",
	},
}

// harmless are jobs that were stopped from outside, or that exited without MPI_Finalize.
var harmless = map[string]stoppedJob{
	"any source, and one still computes": {
		3, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 140, receive("MPI_ANY_SOURCE", "MPI_ANY_TAG"))
			b.Rank(1).At("a.c:2").Unfinished("MPI_Recv", 120, 140, receive(0, 1))
			b.Rank(2).Ended("after MPI_Allreduce", 140)
		},
		"This job was stopped after 140 ms while it was making progress.", []int{}, "",
	},
	"stopped in the middle": {
		2, func(b *tracetest.Builder) {
			b.Rank(0).At("main.c:20").Unfinished("MPI_Allreduce", 119, 121, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
			b.Rank(1).Ended("after MPI_Allreduce", 121)
		},
		"This job was stopped after 121 ms while it was making progress.", []int{}, "",
	},
	"processes of another world": {
		2, func(b *tracetest.Builder) {
			comm := b.Comm("port#0", 0)
			b.Communicator(comm).Remote = trace.NewRankList([]int{-1})
			b.Rank(0).Call("MPI_Comm_spawn", 111, 112, args{"intercomm": tracetest.Comm(comm)}).
				At("a.c:1").Unfinished("MPI_Recv", 120, 1120, args{"count": 1, "datatype": "MPI_INT", "source": 0, "tag": 6, "comm": tracetest.Comm(comm)})
			b.Rank(1).At("a.c:2").Unfinished("MPI_Barrier", 120, 1120, nil)
		},
		"This job was stopped after 1.1 s; in its last 1.0 s rank 0 waited in MPI_Recv at a.c:1 (from a process, tag 6, intercommunicator with another world), and rank 1 waited in MPI_Barrier at a.c:2 (MPI_COMM_WORLD). Whether it hung is not known: the trace does not show what the processes of the other world do (rank 0).", []int{}, "",
	},
	"all leave": {
		2, func(b *tracetest.Builder) {
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Ended("after MPI_Allreduce", 120).Info().End.ExitCode = 0 })
		},
		"All 2 ranks (exit code 0) left without MPI_Finalize after 120 ms.", []int{}, "0-1",
	},
}

func TestRunThatEndedHasNoFindings(t *testing.T) {
	require.Nil(t, endOf(t, begun(2).Ranks(func(_ int, r *tracetest.Rank) { end(r, 120) })))
}

// The awaited ranks are included as numbers, too.
func TestRanksOfAHang(t *testing.T) {
	b := begun(2)
	b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 1120, receive(1, 7))
	b.Rank(1).At("a.c:2").Unfinished("MPI_Bcast", 130, 1130, args{"count": 1, "datatype": "MPI_INT", "root": 0})
	f := endOf(t, b)
	require.Equal(t, Rank{
		Rank: 0, State: "waiting", Function: "MPI_Recv", CallSite: "a.c:1", Communicator: "MPI_COMM_WORLD", Peer: new(1), Tag: new(int64(7)),
		SinceSeconds: 0.12, LastedSeconds: 1, For: "1",
	}, f.Ranks[0])
	require.Equal(t, Rank{
		Rank: 1, State: "waiting", Function: "MPI_Bcast", CallSite: "a.c:2", Communicator: "MPI_COMM_WORLD", Root: new(0),
		SinceSeconds: 0.13, LastedSeconds: 1, For: "0",
	}, f.Ranks[1])
}

// A rank that is not in the trace may have done anything.
func TestMissingRankIsNoHang(t *testing.T) {
	b := begun(3)
	b.Rank(0).At("a.c:1").Unfinished("MPI_Recv", 120, 1120, receive(2, 7))
	b.Rank(1).At("a.c:1").Unfinished("MPI_Recv", 120, 1120, receive(0, 7))
	f := endOf(t, b.Without(2))
	require.Empty(t, f.Kind)
}
