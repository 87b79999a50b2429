package recorder

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/tracer/recorder/internal/recordtest"
)

// A wait that fails still ends its request: MPI may reuse the handle for another one.
func TestFailedWaitEndsTheRequest(t *testing.T) {
	const truncated = 15
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	s.Irecv(1, 7, 1000)
	s.Call(0, "MPI_Wait", truncated, 1000, recordtest.RequestNull, recordtest.NoStatus{})
	s.Isend(2, 8, 1000)
	s.Call(0, "MPI_Wait", 0, 1000, recordtest.RequestNull, recordtest.Status{})
	s.Irecv(1, 7, 1001)
	s.Irecv(3, 7, 1002)
	// the first is done, the second is not
	s.Call(0, "MPI_Waitall", truncated, 2, recordtest.List{1001, 1002}, recordtest.List{recordtest.RequestNull, 1002}, recordtest.NoStatuses{})
	s.Call(0, "MPI_Wait", 0, 1002, recordtest.RequestNull, recordtest.Status{Source: 3, Tag: 7, Bytes: 4})
	recordtest.Expect(t, recordtest.Lines(t, contentOf(s), 0)[1:],
		"Irecv(1 INT 1 7 COMM_WORLD -> ptr #0)",
		"Wait(#0 -> REQUEST_NULL -)=~15",
		"Isend(ptr 1 INT 2 8 COMM_WORLD -> #1)",
		"Wait(#1 -> - [~0 ~0 ~0 ~0 ~0])",
		"Irecv(1 INT 1 7 COMM_WORLD -> ptr #0)",
		"Irecv(1 INT 3 7 COMM_WORLD -> ptr #2)",
		"Waitall(2 [#0 #2] -> [REQUEST_NULL #2] -)=~15",
		"Wait(#2 -> - [~3 ~7 ~0 ~0 ~4])",
	)
}

// Requests that share one raw handle are ended one by one, also by MPI_Request_free.
func TestSharedHandleIsFreedOnce(t *testing.T) {
	const shared = 0x6c000000
	s := recordtest.NewShim(t)
	s.Init(0, 4)
	for k := range int64(3) {
		s.Isend(k, 5, shared)
	}
	s.Call(0, "MPI_Request_free", 0, shared, recordtest.RequestNull)
	s.Waitall(recordtest.List{shared, shared})
	s.Isend(0, 5, shared)
	got := recordtest.Lines(t, contentOf(s), 0)
	recordtest.Expect(t, got[4:],
		"Request_free(#0 -> REQUEST_NULL)",
		"Waitall(2 [#1 #2] -> - [[~0 ~5 ~0 ~0 ~4] [~1 ~5 ~0 ~0 ~4]])",
		"Isend(ptr 1 INT 0 5 COMM_WORLD -> #0)",
	)
}

// arguments are values for the parameters of a function, as the fake shim writes them; the request
// that it creates is raw.
func arguments(f *mpi.Function, raw int64) []any {
	var all []any
	value := func(p *mpi.Param, out bool) any {
		switch p.Kind {
		case mpi.KindString:
			return recordtest.Str("text")
		case mpi.KindStrings, mpi.KindArgv:
			return recordtest.List{}
		case mpi.KindStatus:
			return recordtest.NoStatus{}
		}
		if p.IsArray() {
			return recordtest.List{1, 2}
		}
		switch p.Kind {
		case mpi.KindRequest:
			if out {
				return raw
			}
		case mpi.KindComm:
			return recordtest.CommWorld
		case mpi.KindDatatype:
			return recordtest.TypeInt
		}
		return 1
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsIn() {
			all = append(all, value(p, false))
		}
	}
	for i := range f.Params {
		if p := &f.Params[i]; p.Direction.IsOut() {
			all = append(all, value(p, true))
		}
	}
	return all
}

// For every function of the standard that creates a request: the request can be followed to its
// completion, and the next one of the same call site has the same id.
func TestEveryKindOfRequest(t *testing.T) {
	kinds := map[string]int{}
	for i := range mpi.Functions {
		f := &mpi.Functions[i]
		creates := false
		for k := range f.Params {
			p := &f.Params[k]
			if p.Kind == mpi.KindRequest && p.Effect == mpi.EffectNew {
				require.False(t, p.IsArray(), f.Name)
				creates = true
			}
		}
		if !creates || f.Class.Op() == "convert" {
			continue
		}
		kinds[f.Class.Op()]++
		t.Run(f.Name, func(t *testing.T) {
			s := recordtest.NewShim(t)
			s.Init(0, 4)
			persistent := f.Class.Has("persistent") || f.Class.Has("partitioned")
			for round := range int64(2) {
				raw := 5000 + round
				s.Call(0, f.Name, 0, arguments(f, raw)...)
				if persistent {
					for range 2 {
						s.Call(0, "MPI_Startall", 0, 1, recordtest.List{raw}, recordtest.List{raw})
						s.Call(0, "MPI_Wait", 0, raw, raw, recordtest.Status{})
					}
					s.Call(0, "MPI_Request_free", 0, raw, recordtest.RequestNull)
				} else {
					s.Call(0, "MPI_Test", 0, raw, raw, 0, recordtest.NoStatus{})
					s.Call(0, "MPI_Wait", 0, raw, recordtest.RequestNull, recordtest.Status{})
				}
			}
			got := recordtest.Lines(t, contentOf(s), 0)[1:]
			half := len(got) / 2
			require.Equal(t, strings.Join(got[:half], "\n"), strings.Join(got[half:], "\n"))
			require.Contains(t, got[0], "#0")
			for _, line := range got[1:half] {
				require.Contains(t, line, "#0", line)
			}
		})
	}
	for _, op := range []string{"send", "recv", "imrecv", "sendrecv", "barrier", "one-to-all", "all-to-one", "all-to-all",
		"prefix", "neighbor", "rma", "io", "grequest", "comm-create", "buffer"} {
		require.NotZero(t, kinds[op], op)
	}
	t.Log(kinds)
}

// Callbacks are code addresses: module and offset, as call sites.
func TestCallbacksByPlace(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 1)
	s.Call(0, "MPI_Op_create", 0, 0x402340, 1, 0x98000001)
	s.Call(0, "MPI_Comm_create_errhandler", 0, 0x701000, 0x94000001)
	s.Call(0, "MPI_Op_create", 0, 0x10, 1, 0x98000002) // in no module
	s.Call(0, "MPI_Grequest_start", 0, 0x402340, 0x402380, 0x402390, 0x9000, 7001)
	c := contentOf(s)
	place := func(v trace.Value) string {
		if v.Form != trace.Code {
			return v.Text
		}
		site := c.Sites[v.Int-1]
		return site.Module + "+" + string(rune('0'+(site.Offset-1)>>12)) + "000…"
	}
	var got [][]string
	for _, s := range c.Signatures[1:] {
		var row []string
		for _, v := range s.In {
			if v.Form == trace.Code {
				row = append(row, place(v))
			}
		}
		got = append(got, row)
	}
	want := [][]string{{"app+2000…"}, {"libx.so+1000…"}, nil, {"app+2000…", "app+2000…", "app+2000…"}}
	require.Empty(t, cmp.Diff(want, got))
	require.Equal(t, uint64(0x2341), c.Sites[c.Signatures[1].In[0].Int-1].Offset)
	require.Equal(t, trace.Pointer, c.Signatures[3].In[0].Form)
	resumed, err := Restore(s.Process, recorderOf(s).AppendState(nil))
	require.NoError(t, err)
	again := recordtest.InMemory(t)(resumed.Content())
	require.Empty(t, cmp.Diff(c, again, listed))
}

// A child of a spawn has a communicator to its parents that no call of its own created.
func TestParentCommunicator(t *testing.T) {
	cs := simulate(t, 2, func(s *recordtest.Shim, rank int64) {
		d := recordtest.Description{Raw: 777, Own: rank, Size: 2, Inter: 1, RemoteSize: 3, Group: recordtest.List{0, 1}, Remote: recordtest.List{-1, -1, -1}}
		s.Call(0, "MPI_Comm_get_parent", 0, 777, d)
		s.Call(0, "MPI_Barrier", 0, 777)
		s.Call(0, "MPI_Comm_get_parent", 0, 777, d)
	})
	for rank, c := range cs {
		require.Len(t, c.Communicators, 2)
		parent := c.Communicators[1]
		require.Equal(t, "MPI_Comm_get_parent", parent.GlobalName)
		require.Equal(t, "0-1", parent.Members.String())
		require.Equal(t, 3, parent.Remote.Len())
		recordtest.Expect(t, recordtest.Lines(t, c, 0)[1:],
			"Comm_get_parent( -> #0) comm MPI_Comm_get_parent",
			"Barrier(#0 -> )",
			"Comm_get_parent( -> #0) comm MPI_Comm_get_parent",
		)
		require.Equal(t, int32(rank), c.Signatures[2].OwnRank)
	}
}

// One that was not spawned has none.
func TestNoParent(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Init(0, 1)
	s.Call(0, "MPI_Comm_get_parent", 0, recordtest.CommNull)
	recordtest.Expect(t, recordtest.Lines(t, contentOf(s), 0)[1:], "Comm_get_parent( -> COMM_NULL)")
}

// Two halves of one world that meet at a port give their communicator the same name; so do two
// that join a socket.
func TestPortWithinOneWorld(t *testing.T) {
	cs := simulate(t, 4, func(s *recordtest.Shim, rank int64) {
		half := rank / 2
		raw := 100 + rank
		group, other := recordtest.List{0, 1}, recordtest.List{2, 3}
		call := "MPI_Comm_accept"
		if half == 1 {
			group, other = other, group
			call = "MPI_Comm_connect"
		}
		split(s, recordtest.CommWorld, half, raw, recordtest.Description{Raw: raw, Own: rank % 2, Size: 2, Group: group})
		for k := range int64(2) {
			s.Call(0, call, 0, recordtest.Str("port"), 0, 0, raw, 200+k, recordtest.Description{Raw: 200 + k, Own: rank % 2, Size: 2, Inter: 1, RemoteSize: 2, Group: group, Remote: other})
		}
		if rank == 0 || rank == 3 {
			s.Call(0, "MPI_Comm_join", 0, 5, 300, recordtest.Description{Raw: 300, Size: 1, Inter: 1, RemoteSize: 1, Group: recordtest.List{rank}, Remote: recordtest.List{3 - rank}})
		}
	})
	got := names(t, cs)
	require.Len(t, got, 3+2+1)
	for name, members := range got {
		switch {
		case strings.Contains(name, "#port."):
			require.Equal(t, "0-1 | 2-3", members)
		case strings.Contains(name, "#join.0"):
			require.Equal(t, "0 | 3", members)
		}
	}
}

// A program that uses sessions only knows its rank from the process set of the world.
func TestSessionsKnowTheWorld(t *testing.T) {
	s := recordtest.NewShim(t)
	s.Call(0, "MPI_Session_init", 0, 0, 0, 0x38000001, 2, 5)
	s.Call(0, "MPI_Comm_create_from_group", 0, 0x48000001, recordtest.Str("tag"), 0, 0, 900,
		recordtest.Description{Raw: 900, Own: 2, Size: 5, Group: recordtest.List{0, 1, 2, 3, 4}})
	c := contentOf(s)
	require.Equal(t, 2, c.Ranks.At(0).Rank)
	require.Equal(t, 5, c.Meta.WorldSize)
	require.Len(t, c.Communicators, 1)
	require.Equal(t, "0-4", c.Communicators[0].Members.String())
}

// A duplicate has its name when the call that creates it returns, though it cannot be used
// before it is complete.
func TestDuplicatesThatAreNotThereYet(t *testing.T) {
	cs := simulate(t, 3, func(s *recordtest.Shim, rank int64) {
		s.Call(0, "MPI_Comm_idup", 0, recordtest.CommWorld, 900, 5000)
		s.Call(0, "MPI_Comm_idup", 0, recordtest.CommWorld, 901, 5001)
		s.Call(0, "MPI_Waitall", 0, 2, recordtest.List{5000, 5001}, recordtest.List{recordtest.RequestNull, recordtest.RequestNull}, recordtest.Statuses{{}, {}})
		s.Call(0, "MPI_Comm_idup", 0, 901, 902, 5000)
		s.Call(0, "MPI_Wait", 0, 5000, recordtest.RequestNull, recordtest.Status{})
		s.Call(0, "MPI_Comm_dup", 0, recordtest.CommWorld, 903, recordtest.Description{Raw: 903, Own: rank, Size: 3, Group: recordtest.List{0, 1, 2}})
	})
	require.Empty(t, cmp.Diff(map[string]string{
		"MPI_COMM_WORLD":         "0-2",
		"MPI_COMM_WORLD.0@0":     "0-2",
		"MPI_COMM_WORLD.1@0":     "0-2",
		"MPI_COMM_WORLD.1@0.0@0": "0-2",
		"MPI_COMM_WORLD.2@0":     "0-2",
	}, names(t, cs)))
}
