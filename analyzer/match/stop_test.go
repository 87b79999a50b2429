package match_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
)

// A stopper records what the calls that never returned waited for, by rank.
type stopper struct {
	recorder
	waits map[int]string
}

func (s *stopper) Stopped(calls []match.Unreturned) {
	s.waits = map[int]string{}
	for i := range calls {
		u := &calls[i]
		var list []string
		for k := range u.Waits {
			list = append(list, waitText(&u.Waits[k]))
		}
		of := ""
		if u.Any {
			of = "any of "
		}
		s.waits[u.Row] = of + strings.Join(list, "; ")
	}
}

// waitText returns a wait in short: what, the peer and the tag of a message or the number of a
// collective, when it was begun, and the ranks that had not done their part.
func waitText(w *match.Wait) (text string) {
	switch {
	case w.Collective:
		text = fmt.Sprintf("collective %d", w.Ordinal)
	case w.Unnumbered:
		return fmt.Sprintf("meeting on %d with %d tag %d at %v: for %v", w.Comm, w.Peer, w.Tag, units(w.Post.Enter), w.For)
	case w.Lock:
		text = fmt.Sprintf("lock of %d", w.Peer)
	case w.Send:
		text = fmt.Sprintf("send to %d tag %d", w.Peer, w.Tag)
	default:
		text = fmt.Sprintf("from %d tag %d", w.Peer, w.Tag)
	}
	text += fmt.Sprintf(" on %d at %v: for %v", w.Comm, units(w.Post.Enter), w.For)
	if w.AnyOf {
		text += ", one of them"
	}
	if w.Stray != nil {
		text += fmt.Sprintf(", but tag %d on %d at %v", w.Stray.Tag, w.Stray.Comm, units(w.Stray.Post.Enter))
	}
	return text
}

// stopped returns what the ranks of a stopped run waited for.
func stopped(t *testing.T, b *tracetest.Builder) map[int]string {
	t.Helper()
	s := &stopper{}
	_, err := match.All(context.Background(), timeline.Of(b.Open(t)), nil, s, nil)
	require.NoError(t, err)
	return s.waits
}

type args = tracetest.Args

// withWindow gives the ranks a window, and a group of ranks 3 and 0.
func withWindow(b *tracetest.Builder) {
	b.Ranks(func(_ int, r *tracetest.Rank) {
		r.Call("MPI_Win_create", 1, 2, args{"win": tracetest.Win(0)}).Call("MPI_Comm_group", 2, 3, args{"group": tracetest.Group(9)}).
			Call("MPI_Group_incl", 3, 4, args{"group": tracetest.Group(9), "n": 2, "ranks": []int{3, 0}, "newgroup": tracetest.Group(1)})
	})
}

// halves gives ranks 0 and 1, and ranks 2 and 3, a communicator, and calls f with the arguments for
// an intercommunicator of both.
func halves(b *tracetest.Builder, f func(i int, r *tracetest.Rank, half args)) {
	comms := []tracetest.Comm{tracetest.Comm(b.Comm("first", 0, 1)), tracetest.Comm(b.Comm("second", 2, 3))}
	b.Ranks(func(i int, r *tracetest.Rank) {
		r.Call("MPI_Comm_split", 1, 2, args{"newcomm": comms[i/2]})
		f(i, r, args{"local_comm": comms[i/2], "local_leader": 0, "peer_comm": "MPI_COMM_WORLD", "remote_leader": 2 - i/2*2})
	})
}

// with returns the arguments with one of them changed.
func with(in args, name string, value any) args {
	in[name] = value
	return in
}

// stoppedRuns are runs of four ranks that end in calls which never returned: the ranks that are in
// one, and what those wait for.
var stoppedRuns = map[string]struct {
	build func(b *tracetest.Builder)
	want  map[int]string
}{
	"receives": {func(b *tracetest.Builder) {
		b.Rank(0).Call("MPI_Send", 1, 2, args{"dest": 1, "tag": 6})
		b.Rank(1).Unfinished("MPI_Recv", 5, 9, args{"source": 0, "tag": 5})
		b.Rank(2).Unfinished("MPI_Recv", 5, 9, args{"source": "MPI_ANY_SOURCE", "tag": 7})
		b.Rank(3).Unfinished("MPI_Recv", 6, 9, args{"source": 0, "tag": "MPI_ANY_TAG"})
	}, map[int]string{
		1: "from 0 tag 5 on 0 at 5: for [0], but tag 6 on 0 at 1",
		2: "from -1 tag 7 on 0 at 5: for [0 1 3], one of them",
		3: "from 0 tag -1 on 0 at 6: for [0]",
	}},
	"sends": {func(b *tracetest.Builder) {
		b.Rank(0).Unfinished("MPI_Recv", 5, 9, args{"source": 1, "tag": 4})
		b.Rank(1).Unfinished("MPI_Ssend", 5, 9, args{"dest": 0, "tag": 4})
		b.Rank(2).Unfinished("MPI_Ssend", 5, 9, args{"dest": 0, "tag": 4})
		b.Rank(3).Unfinished("MPI_Sendrecv", 6, 9, args{"dest": 2, "sendtag": 1, "source": 0, "recvtag": 2})
	}, map[int]string{
		0: "from 1 tag 4 on 0 at 5: for []",
		1: "send to 0 tag 4 on 0 at 5: for []",
		2: "send to 0 tag 4 on 0 at 5: for [0]",
		3: "send to 2 tag 1 on 0 at 6: for [2]; from 0 tag 2 on 0 at 6: for [0]",
	}},
	// A buffer can be detached when the messages in it have been received.
	"buffers": {func(b *tracetest.Builder) {
		b.Rank(0).Call("MPI_Bsend", 1, 2, args{"dest": 1, "tag": 4}).Call("MPI_Bsend", 2, 3, args{"dest": 2, "tag": 5}).
			Call("MPI_Send", 3, 4, args{"dest": 3, "tag": 6}).Unfinished("MPI_Buffer_detach", 5, 9, nil)
		b.Rank(1).Call("MPI_Recv", 1, 4, args{"source": 0, "tag": 4})
		b.Rank(3).Unfinished("MPI_Buffer_attach", 5, 9, nil)
	}, map[int]string{0: "send to 2 tag 5 on 0 at 2: for [2]", 3: ""}},
	// The sender has not released one of its partitions.
	"partitions": {func(b *tracetest.Builder) {
		parts := func(peer string, rank int) args {
			return args{"partitions": 2, peer: rank, "tag": 3, "request": tracetest.Request(0)}
		}
		request := args{"request": tracetest.Request(0)}
		b.Rank(0).Call("MPI_Psend_init", 1, 2, parts("dest", 1)).Call("MPI_Start", 2, 3, request).
			Call("MPI_Pready", 3, 4, args{"partition": 1, "request": tracetest.Request(0)}).Unfinished("MPI_Wait", 5, 9, request)
		b.Rank(1).Call("MPI_Precv_init", 1, 2, parts("source", 0)).Call("MPI_Start", 2, 3, request).Unfinished("MPI_Wait", 5, 9, request)
	}, map[int]string{
		0: "send to 1 tag 3 on 0 at 3: for [0]",
		1: "from 0 tag 3 on 0 at 2: for [0]",
	}},
	// Rank 0 has received the first message, and has not started its persistent request 3. Only
	// requests that lack a partner can end a wait for any of them.
	"requests": {func(b *tracetest.Builder) {
		b.Rank(0).Irecv(1, 2, 1, 0).Irecv(2, 3, 1, 1).Irecv(3, 4, 2, 2).
			Call("MPI_Recv_init", 4, 5, args{"source": 3, "request": tracetest.Request(3)}).
			Unfinished("MPI_Waitall", 6, 9, args{"count": 4, "array_of_requests": tracetest.Requests{0, 1, 2, 3}})
		b.Rank(1).Send(1, 2, 0)
		b.Rank(3).Isend(1, 2, 2, 0).Irecv(2, 3, 0, 1).
			Unfinished("MPI_Waitany", 6, 9, args{"count": 2, "array_of_requests": tracetest.Requests{0, 1}})
	}, map[int]string{
		0: "from 1 tag 0 on 0 at 1: for []; from 1 tag 0 on 0 at 2: for [1]; from 2 tag 0 on 0 at 3: for [2]",
		3: "any of send to 2 tag 0 on 0 at 1: for [2]; from 0 tag 0 on 0 at 2: for [0]",
	}},
	// Ranks 1 and 3 hold locks of rank 0. Who is in a call that needs a lock of the window is not
	// taken for a holder.
	"locks": {func(b *tracetest.Builder) {
		withWindow(b)
		shared := func(target int) args {
			return args{"lock_type": "MPI_LOCK_SHARED", "rank": target, "win": tracetest.Win(0)}
		}
		exclusive := args{"lock_type": "MPI_LOCK_EXCLUSIVE", "rank": 0, "win": tracetest.Win(0)}
		b.Rank(1).Call("MPI_Win_lock", 4, 5, shared(0))
		b.Rank(3).Call("MPI_Win_lock", 4, 5, shared(0))
		b.Rank(2).Call("MPI_Win_lock", 5, 6, exclusive).Unfinished("MPI_Put", 6, 9, args{"target_rank": 0, "win": tracetest.Win(0)})
		b.Rank(0).Unfinished("MPI_Win_lock", 5, 9, exclusive)
	}, map[int]string{
		0: "lock of -1 on 0 at 5: for [1 3], one of them",
		2: "lock of 0 on 0 at 6: for [1 3], one of them",
	}},
	"a buffered send": {func(b *tracetest.Builder) {
		b.Rank(0).Unfinished("MPI_Bsend", 5, 9, args{"dest": 1, "tag": 4})
	}, map[int]string{0: "send to 1 tag 4 on 0 at 5: for []"}},
	"probes": {func(b *tracetest.Builder) {
		b.Rank(0).Call("MPI_Send", 1, 2, args{"dest": 1, "tag": 6})
		b.Rank(1).Call("MPI_Mprobe", 2, 3, args{"source": 0, "tag": 6, "message": tracetest.Message(4), "status": tracetest.Status{Source: 0, Tag: 6, Bytes: 8}}).
			Unfinished("MPI_Mrecv", 5, 9, args{"message": tracetest.Message(4)})
		b.Rank(2).Unfinished("MPI_Probe", 5, 9, args{"source": 0, "tag": 3})
		b.Rank(3).Unfinished("MPI_Mprobe", 5, 9, args{"source": "MPI_ANY_SOURCE", "tag": "MPI_ANY_TAG"})
	}, map[int]string{
		1: "from 0 tag 6 on 0 at 2: for []",
		2: "from 0 tag 3 on 0 at 5: for [0]",
		3: "from -1 tag -1 on 0 at 5: for [0 1 2], one of them",
	}},
	// Rank 0 is in the first barrier, ranks 1 and 2 in the second collective: a broadcast.
	"collectives": {func(b *tracetest.Builder) {
		pair := b.Comm("pair", 3, 0)
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 0.5) })
		b.Rank(0).Call("MPI_Comm_create_group", 1, 2, args{"newcomm": tracetest.Comm(pair)})
		b.Rank(3).Call("MPI_Comm_create_group", 1, 2, args{"newcomm": tracetest.Comm(pair)}).
			Unfinished("MPI_Barrier", 5, 9, args{"comm": tracetest.Comm(pair)})
		b.Rank(1).Unfinished("MPI_Bcast", 5, 9, args{"root": 0})
		b.Rank(2).Unfinished("MPI_Bcast", 6, 9, args{"root": 0})
	}, map[int]string{
		1: "collective 0 on 0 at 5: for [0]",
		2: "collective 0 on 0 at 6: for [0]",
		3: "collective 0 on 1 at 5: for [0]",
	}},
	// Ranks 0 and 3 pass different tags, ranks 1 and 2 the same one.
	"creation by members": {func(b *tracetest.Builder) {
		withWindow(b)
		for i, tag := range []int{5, 7, 7, 6} {
			r := b.Rank(i)
			if i == 1 || i == 2 {
				r.Call("MPI_Group_incl", 3, 4, args{"group": tracetest.Group(9), "n": 2, "ranks": []int{1, 2}, "newgroup": tracetest.Group(1)})
			}
			r.Unfinished("MPI_Comm_create_group", 5, 9, args{"group": tracetest.Group(1), "tag": tag})
		}
	}, map[int]string{
		0: "meeting on 0 with -1 tag 5 at 5: for [3]",
		1: "meeting on 0 with -1 tag 7 at 5: for []",
		2: "meeting on 0 with -1 tag 7 at 5: for []",
		3: "meeting on 0 with -1 tag 6 at 5: for [0]",
	}},
	"creation from which the other one has returned": {func(b *tracetest.Builder) {
		pair := b.Comm("pair", 3, 0)
		withWindow(b)
		b.Rank(0).Unfinished("MPI_Comm_create_group", 5, 9, args{"group": tracetest.Group(1), "tag": 5})
		b.Rank(3).Call("MPI_Comm_create_group", 5, 6, args{"group": tracetest.Group(1), "tag": 5, "newcomm": tracetest.Comm(pair)})
	}, map[int]string{0: "meeting on 0 with -1 tag 5 at 5: for []"}},
	"an intercommunicator whose leaders have different tags": {func(b *tracetest.Builder) {
		halves(b, func(i int, r *tracetest.Rank, half args) {
			r.Unfinished("MPI_Intercomm_create", 5, 9, with(half, "tag", 5+i/2))
		})
	}, map[int]string{
		0: "meeting on 1 with 2 tag 5 at 5: for [2]",
		1: "meeting on 1 with 2 tag 5 at 5: for [2]",
		2: "meeting on 2 with 0 tag 6 at 5: for [0]",
		3: "meeting on 2 with 0 tag 6 at 5: for [0]",
	}},
	"an intercommunicator of which one rank does not come": {func(b *tracetest.Builder) {
		halves(b, func(i int, r *tracetest.Rank, half args) {
			if i != 3 {
				r.Unfinished("MPI_Intercomm_create", 5, 9, with(half, "tag", 5))
			}
		})
	}, map[int]string{
		0: "meeting on 1 with 2 tag 5 at 5: for [3]",
		1: "meeting on 1 with 2 tag 5 at 5: for [3]",
		2: "meeting on 2 with 0 tag 5 at 5: for [3]",
	}},
	"an intercommunicator of which the leader does not come": {func(b *tracetest.Builder) {
		halves(b, func(i int, r *tracetest.Rank, half args) {
			if i != 0 {
				r.Unfinished("MPI_Intercomm_create", 5, 9, with(half, "tag", 5))
			}
		})
	}, map[int]string{
		1: "meeting on 1 with -1 tag 5 at 5: for [0]",
		2: "meeting on 2 with 0 tag 5 at 5: for [0]",
		3: "meeting on 2 with 0 tag 5 at 5: for [0]",
	}},
	"an intercommunicator by messages on another communicator": {func(b *tracetest.Builder) {
		halves(b, func(_ int, r *tracetest.Rank, half args) {
			r.Unfinished("MPI_Intercomm_create", 5, 9, with(with(half, "tag", 5), "peer_comm", tracetest.Comm(1)))
		})
	}, map[int]string{0: "", 1: "", 2: "", 3: ""}},
	"a communicator that is left": {func(b *tracetest.Builder) {
		pair := b.Comm("pair", 3, 0)
		all := b.Comm("all", 0, 1, 2, 3)
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.Call("MPI_Comm_dup", 1, 2, args{"newcomm": tracetest.Comm(all)})
			switch i {
			case 0:
				r.Unfinished("MPI_Comm_disconnect", 5, 9, args{"comm": tracetest.Comm(all)})
			case 1:
				r.Call("MPI_Comm_disconnect", 4, 5, args{"comm": tracetest.Comm(all)})
			case 2:
				r.Unfinished("MPI_Comm_disconnect", 6, 9, args{"comm": tracetest.Comm(all)})
			case 3:
				r.Call("MPI_Comm_create_group", 3, 4, args{"newcomm": tracetest.Comm(pair)}).Unfinished("MPI_Comm_disconnect", 6, 9, args{"comm": tracetest.Comm(pair)})
			}
		})
	}, map[int]string{
		0: "meeting on 2 with -1 tag -1 at 5: for [3]",
		2: "meeting on 2 with -1 tag -1 at 6: for [3]",
		3: "meeting on 1 with -1 tag -1 at 6: for [0]",
	}},
	"all but one": {func(b *tracetest.Builder) {
		b.Ranks(func(i int, r *tracetest.Rank) {
			r.Collective("MPI_Barrier", 1, 2)
			switch i {
			case 0:
				r.Unfinished("MPI_Bcast", 5, 9, args{"root": 0})
			case 2:
				r.Unfinished("MPI_Bcast", 6, 9, args{"root": 0})
			}
		})
	}, map[int]string{
		0: "collective 1 on 0 at 5: for [1 3]",
		2: "collective 1 on 0 at 6: for [1 3]",
	}},
	"start and end": {func(b *tracetest.Builder) {
		b.Rank(0).Unfinished("MPI_Init", 1, 9, nil)
		b.Rank(1).Init(1, 2).Unfinished("MPI_Finalize", 5, 9, nil)
		b.Rank(3).Init(1, 2).Unfinished("MPI_Finalize", 6, 9, nil)
	}, map[int]string{
		0: "collective 0 on -1 at 1: for [2]",
		1: "collective 0 on -1 at 5: for [0 2]",
		3: "collective 0 on -1 at 6: for [0 2]",
	}},
	// An access epoch waits for the ranks of its group; a fence for all that have not entered.
	"windows": {func(b *tracetest.Builder) {
		withWindow(b)
		b.Rank(1).Unfinished("MPI_Win_start", 5, 9, args{"group": tracetest.Group(1), "win": tracetest.Win(0)})
		b.Rank(2).Unfinished("MPI_Win_fence", 5, 9, args{"win": tracetest.Win(0)})
		b.Rank(3).Call("MPI_Win_post", 5, 6, args{"group": tracetest.Group(1), "win": tracetest.Win(0)}).
			Unfinished("MPI_Win_wait", 7, 9, args{"win": tracetest.Win(0)})
	}, map[int]string{
		1: "from 3 tag -1 on 0 at 5: for [3]; from 0 tag -1 on 0 at 5: for [0]",
		2: "collective 1 on 0 at 5: for [0 1 3]",
		3: "from 3 tag -1 on 0 at 7: for [3]; from 0 tag -1 on 0 at 7: for [0]",
	}},
}

func TestWhatStoppedRanksWaitFor(t *testing.T) {
	for name, test := range stoppedRuns {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(4)
			test.build(b)
			assert.Equal(t, test.want, stopped(t, b))
		})
	}
}
