package stopped

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/verdict"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// poll makes unsuccessful tests from one time to another.
func poll(r *tracetest.Rank, name string, from, to float64, a args) {
	a["flag"] = 0
	for at := from; at < to; at += 10 {
		r.Call(name, at, at+9.99, a)
	}
}

// irecv posts a receive.
func irecv(r *tracetest.Rank, at float64, peer, tag, request int) {
	a := receive(peer, tag)
	a["request"] = tracetest.Request(request)
	r.Call("MPI_Irecv", at, at+1, a)
}

func barrier(r *tracetest.Rank, from, to float64) {
	r.At("b.c:1").Unfinished("MPI_Barrier", from, to, nil)
}

// pollingHangs are jobs in which a rank polls for what cannot come.
var pollingHangs = map[string]stoppedJob{
	"a message with another tag": {
		2, func(b *tracetest.Builder) {
			irecv(b.Rank(0).At("a.c:1"), 118, 1, 7, 1)
			poll(b.Rank(0).At("a.c:2"), "MPI_Test", 120, 1120, args{"request": tracetest.Request(1)})
			b.Rank(0).Ended("after MPI_Test", 1120)
			b.Rank(1).At("a.c:3").Call("MPI_Send", 111, 112, send(0, 8))
			barrier(b.Rank(1), 120, 1120)
		},
		"This job hung for its last 1.0 s: rank 0 polled in vain with MPI_Test at a.c:2 (from rank 1, tag 7, MPI_COMM_WORLD), and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD): they waited for each other. Rank 1 had sent to rank 0 with tag 8 on MPI_COMM_WORLD by MPI_Send at a.c:3, which nobody received.",
		[]int{0, 1}, "0-1",
	},
	"all of two requests": {
		4, func(b *tracetest.Builder) {
			r := b.Rank(0).At("a.c:1")
			irecv(r, 115, 1, 1, 1)
			irecv(r, 116, 2, 1, 2)
			poll(r.At("a.c:2"), "MPI_Testall", 120, 1120, args{"count": 2, "array_of_requests": tracetest.Requests{1, 2}})
			r.Ended("after MPI_Testall", 1120)
			barrier(b.Rank(1), 120, 1120)
			poll(b.Rank(2).At("a.c:3").Call("MPI_Send", 111, 112, send(0, 1)), "MPI_Iprobe", 120, 1120, args{"source": 1, "tag": 3})
			b.Rank(2).Ended("after MPI_Iprobe", 1120)
			barrier(b.Rank(3), 120, 1120)
		},
		"This job hung for its last 1.0 s: rank 0 polled in vain with MPI_Testall at a.c:2 (from rank 1, tag 1, MPI_COMM_WORLD), and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD): they waited for each other. Meanwhile rank 2 polled in vain with MPI_Iprobe at a.c:3 (from rank 1, tag 3, MPI_COMM_WORLD) and rank 3 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD).",
		[]int{0, 1}, "0-1",
	},
	"two tests in turn, and any source": {
		2, func(b *tracetest.Builder) {
			r := b.Rank(0)
			irecv(r.At("a.c:1"), 115, 1, 1, 1)
			for at := 120.0; at < 1120; at += 20 {
				poll(r.At("a.c:2"), "MPI_Test", at, at+10, args{"request": tracetest.Request(1)})
				poll(r.At("a.c:3"), "MPI_Improbe", at+10, at+20, args{"source": "MPI_ANY_SOURCE", "tag": 4})
			}
			r.Ended("after MPI_Improbe", 1120)
			barrier(b.Rank(1), 120, 1120)
		},
		"This job hung for its last 1.0 s: rank 0 polled in vain with MPI_Test at a.c:2 (from rank 1, tag 1, MPI_COMM_WORLD), and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD): they waited for each other.",
		[]int{0, 1}, "0-1",
	},
	"an exposure epoch": {
		2, func(b *tracetest.Builder) {
			b.Ranks(func(i int, r *tracetest.Rank) {
				r.Call("MPI_Win_create", 111, 112, args{"win": tracetest.Win(0)}).Call("MPI_Comm_group", 112, 113, args{"group": tracetest.Group(9)}).
					Call("MPI_Group_incl", 113, 114, args{"group": tracetest.Group(9), "n": 1, "ranks": []int{1 - i}, "newgroup": tracetest.Group(1)})
			})
			b.Rank(0).At("a.c:1").Call("MPI_Win_post", 115, 116, args{"group": tracetest.Group(1), "win": tracetest.Win(0)})
			poll(b.Rank(0).At("a.c:2"), "MPI_Win_test", 120, 1120, args{"win": tracetest.Win(0)})
			b.Rank(0).Ended("after MPI_Win_test", 1120)
			barrier(b.Rank(1), 120, 1120)
		},
		"This job hung for its last 1.0 s: rank 0 polled in vain with MPI_Win_test at a.c:2 (for rank 1, MPI_COMM_WORLD), and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD): they waited for each other.",
		[]int{0, 1}, "0-1",
	},
	"a lock that is never released": {
		3, func(b *tracetest.Builder) {
			lock := args{"lock_type": "MPI_LOCK_EXCLUSIVE", "rank": 0, "win": tracetest.Win(0)}
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Call("MPI_Win_create", 111, 112, args{"win": tracetest.Win(0)}) })
			b.Rank(1).At("a.c:1").Call("MPI_Win_lock", 113, 114, lock)
			b.Rank(2).At("a.c:2").Call("MPI_Win_lock", 115, 116, lock).
				Unfinished("MPI_Win_unlock", 120, 1120, args{"rank": 0, "win": tracetest.Win(0)})
			barrier(b.Rank(0), 120, 1120)
			barrier(b.Rank(1), 120, 1120)
		},
		"This job hung for its last 1.0 s: rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD), and rank 2 waited in MPI_Win_unlock at a.c:2 (for the lock of rank 0, MPI_COMM_WORLD): they waited for each other. Meanwhile rank 0 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD).",
		[]int{1, 2}, "1-2",
	},
}

func TestPollingHangs(t *testing.T) { checkEndings(t, verdict.Hang, verdict.Cycle, pollingHangs) }

// noHangs are jobs of which it is not known that they hung: a rank could proceed, or may have been
// able to.
var noHangs = map[string]stoppedJob{
	"polls for any of two, of which one can come": {
		3, func(b *tracetest.Builder) {
			r := b.Rank(0).At("a.c:1")
			irecv(r, 115, 1, 1, 1)
			irecv(r, 116, 2, 1, 2)
			poll(r.At("a.c:2"), "MPI_Testany", 120, 1120, args{"count": 2, "array_of_requests": tracetest.Requests{1, 2}})
			r.Ended("after MPI_Testany", 1120)
			barrier(b.Rank(1), 120, 1120)
			b.Rank(2).At("a.c:3").Call("MPI_Comm_rank", 800, 801, args{"rank": 2}).Ended("after MPI_Comm_rank", 1120)
		},
		"This job was stopped after 1.1 s; in its last 1.0 s rank 2 made no call after MPI_Comm_rank at a.c:3, rank 0 polled in vain with MPI_Testany at a.c:2 (from rank 1, tag 1, MPI_COMM_WORLD, and 1 more), and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD).",
		[]int{}, "",
	},
	"polls for what has been sent": {
		2, func(b *tracetest.Builder) {
			irecv(b.Rank(0).At("a.c:1"), 115, 1, 1, 1)
			poll(b.Rank(0).At("a.c:2"), "MPI_Test", 120, 1120, args{"request": tracetest.Request(1)})
			b.Rank(0).Ended("after MPI_Test", 1120)
			b.Rank(1).At("a.c:3").Call("MPI_Send", 116, 117, send(0, 1))
			barrier(b.Rank(1), 120, 1120)
		},
		"This job was stopped after 1.1 s; in its last 1.0 s rank 0 polled in vain with MPI_Test at a.c:2, and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD).",
		[]int{}, "",
	},
	"polls for less than half a second": {
		2, func(b *tracetest.Builder) {
			irecv(b.Rank(0).At("a.c:1"), 815, 1, 1, 1)
			poll(b.Rank(0).At("a.c:2"), "MPI_Test", 820, 1120, args{"request": tracetest.Request(1)})
			b.Rank(0).Ended("after MPI_Test", 1120)
			barrier(b.Rank(1), 120, 1120)
		},
		"This job was stopped after 1.1 s while it was making progress.", []int{}, "",
	},
	"computes between tests": {
		2, func(b *tracetest.Builder) {
			irecv(b.Rank(0).At("a.c:1"), 115, 1, 1, 1)
			for at := 120.0; at < 1120; at += 100 {
				poll(b.Rank(0).At("a.c:2"), "MPI_Test", at, at+10, args{"request": tracetest.Request(1)})
			}
			b.Rank(0).Ended("after MPI_Test", 1120)
			barrier(b.Rank(1), 120, 1120)
		},
		"This job was stopped after 1.1 s; in its last 1.0 s rank 0 made tests without success, the last with MPI_Test at a.c:2, and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD).",
		[]int{}, "",
	},
	"a connection that nobody makes": {
		2, func(b *tracetest.Builder) {
			b.Rank(0).At("a.c:1").Unfinished("MPI_Comm_accept", 120, 1120, args{"port_name": "p", "root": 0})
			barrier(b.Rank(1), 120, 1120)
		},
		"This job was stopped after 1.1 s; in its last 1.0 s rank 0 waited in MPI_Comm_accept at a.c:1, and rank 1 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD). Whether it hung is not known: the trace does not show whether anybody connects (rank 0).",
		[]int{}, "",
	},
	"a lock that its target could give": {
		3, func(b *tracetest.Builder) {
			lock := args{"lock_type": "MPI_LOCK_EXCLUSIVE", "rank": 0, "win": tracetest.Win(0)}
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Call("MPI_Win_create", 111, 112, args{"win": tracetest.Win(0)}) })
			for i := 1; i < 3; i++ {
				b.Rank(i).At("a.c:2").Call("MPI_Win_lock", 115, 116, lock).
					Unfinished("MPI_Win_unlock", 120, 1120, args{"rank": 0, "win": tracetest.Win(0)})
			}
			barrier(b.Rank(0), 120, 1120)
		},
		"This job was stopped after 1.1 s; in its last 1.0 s ranks 1-2 waited in MPI_Win_unlock at a.c:2, and rank 0 waited in MPI_Barrier at b.c:1 (MPI_COMM_WORLD). Whether it hung is not known: the trace does not show who holds the lock (ranks 1-2).",
		[]int{}, "",
	},
}

func TestNoHangs(t *testing.T) { checkEndings(t, "", "", noHangs) }

// A rank that is ended within a test has polled, too.
func TestEndedWithinATest(t *testing.T) {
	b := begun(2)
	irecv(b.Rank(0).At("a.c:1"), 115, 1, 1, 1)
	poll(b.Rank(0).At("a.c:2"), "MPI_Test", 120, 1120, args{"request": tracetest.Request(1)})
	b.Rank(0).Unfinished("MPI_Test", 1120, 1120, args{"request": tracetest.Request(1)})
	barrier(b.Rank(1), 120, 1120)
	f := endOf(t, b)
	require.Equal(t, verdict.Cycle, f.Form)
	require.InDelta(t, 1, f.WaitedSeconds, 0.01)
	require.Equal(t, "polling", f.Ranks[0].State)
	require.Equal(t, "1", f.Ranks[0].For)
}

// A collective of different sizes from which all ranks have returned does not explain what follows.
func TestMismatchThatDidNoHarm(t *testing.T) {
	b := begun(2)
	for i := range 2 {
		b.Rank(i).At("a.c:1").Call("MPI_Bcast", 111, 112, args{"count": 1 + i, "datatype": "MPI_INT", "root": 0})
	}
	b.Rank(0).At("a.c:2").Unfinished("MPI_Recv", 120, 1120, receive(1, 7))
	b.Rank(1).At("a.c:3").Unfinished("MPI_Recv", 120, 1120, receive(0, 7))
	assert.Equal(t, verdict.Cycle, endOf(t, b).Form)
}

// While one rank is still in a mismatched collective, the others may have gone on.
func TestMismatchThatSomeLeft(t *testing.T) {
	b := begun(3)
	b.Rank(0).At("a.c:1").Call("MPI_Bcast", 111, 112, args{"count": 1, "datatype": "MPI_INT", "root": 0})
	b.Rank(0).At("a.c:9").Unfinished("MPI_Barrier", 120, 1120, nil)
	b.Rank(1).At("a.c:2").Unfinished("MPI_Allreduce", 120, 1120, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
	b.Rank(2).At("a.c:2").Unfinished("MPI_Allreduce", 120, 1120, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
	f := endOf(t, b)
	require.Equal(t, "This job hung in collective calls that do not match, for its last 1.0 s: as collective number 11 on MPI_COMM_WORLD, rank 0 called MPI_Bcast at a.c:1, but the other 2 ranks called MPI_Allreduce at a.c:2.", f.Text)
}

// While calls are missing, nothing is claimed of those that remain.
func TestNoHangIfCallsAreMissing(t *testing.T) {
	b := begun(2)
	b.Rank(0).At("a.c:2").Unfinished("MPI_Recv", 120, 1120, receive(1, 7))
	b.Rank(1).At("a.c:3").Unfinished("MPI_Recv", 120, 1120, receive(0, 7))
	b.Rank(1).Info().Dropped = 1
	f := endOf(t, b)
	require.Empty(t, f.Kind)
	require.Contains(t, f.Text, "Whether it hung is not known: the trace does not show what the ranks had sent and received, since the trace lacks calls (ranks 0-1).")
}

// Another thread of a rank may be about to send what its first thread waits for.
func TestNoHangIfAnotherThreadComputes(t *testing.T) {
	b := begun(2)
	b.Rank(0).At("a.c:2").Unfinished("MPI_Recv", 120, 1120, receive(1, 7))
	b.Rank(1).At("a.c:3").Unfinished("MPI_Recv", 120, 1120, receive(0, 7))
	thread := b.Rank(1).Thread()
	thread.At("a.c:4").Call("MPI_Send", 115, 116, send(0, 9))
	require.Empty(t, endOf(t, b).Kind)
	thread.Unfinished("MPI_Recv", 120, 1120, receive(0, 9))
	require.Equal(t, verdict.Hang, endOf(t, b).Kind)
}
