package reexecution

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi"
	"github.com/cairn-mpi/cairn/trace"
)

// canonicalOf lists the canonical calls of a location: function(what says something of it), and the
// computation before.
func canonicalOf(t *testing.T, tr timeline.Trace, location int) (calls []string) {
	t.Helper()
	require.NoError(t, Each(context.Background(), tr, location, func(c *Call) error {
		calls = append(calls, describe(c))
		return nil
	}))
	return calls
}

func describe(c *Call) string {
	var args []string
	for i := range c.In {
		switch v := &c.In[i]; v.Form {
		case trace.Handle:
			args = append(args, fmt.Sprintf("#%d", v.Int))
		case trace.List:
			var list []string
			for k := range v.List {
				if v.List[k].Form == trace.Handle {
					list = append(list, fmt.Sprintf("#%d", v.List[k].Int))
				} else {
					list = append(list, text(&v.List[k]))
				}
			}
			args = append(args, "["+strings.Join(list, " ")+"]")
		case trace.Int, trace.Name:
			args = append(args, text(v))
		}
	}
	s := fmt.Sprintf("%s(%s)", strings.TrimPrefix(c.Function.Name, "MPI_"), strings.Join(args, " "))
	if c.Compute > 0 {
		s += fmt.Sprintf(" after %.4g", float64(c.Compute)/tracetest.Unit)
	}
	return s
}

type (
	args     = tracetest.Args
	request  = tracetest.Request
	requests = tracetest.Requests
	status   = tracetest.Status
)

const (
	anySource = "MPI_ANY_SOURCE"
	anyTag    = "MPI_ANY_TAG"
)

// canonicalForms has each rule of doc.go: calls of a rank between MPI_Init and MPI_Finalize, and
// their canonical form.
var canonicalForms = []struct {
	name string
	made func(r *tracetest.Rank)
	want []string
}{
	{
		"a receive takes the message that it took",
		func(r *tracetest.Rank) {
			r.Call("MPI_Recv", 2, 3, args{"count": 1, "datatype": "MPI_INT", "source": anySource, "tag": anyTag, "status": status{Source: 1, Tag: 7, Bytes: 4}})
		},
		[]string{"Recv(1 MPI_INT 1 7 MPI_COMM_WORLD) after 1"},
	},
	{
		"a nonblocking one, whose status comes later, and in another order",
		func(r *tracetest.Rank) {
			r.Call("MPI_Irecv", 1, 1, args{"count": 1, "datatype": "MPI_INT", "source": anySource, "tag": 5, "request": request(0)})
			r.Call("MPI_Irecv", 1, 1, args{"count": 1, "datatype": "MPI_INT", "source": anySource, "tag": 5, "request": request(1)})
			r.Call("MPI_Waitany", 1, 1, args{"count": 2, "array_of_requests": requests{0, 1}, "index": 1, "status": status{Source: 1, Tag: 5}})
			r.Call("MPI_Wait", 1, 1, args{"request": request(0), "status": status{Source: 0, Tag: 5}})
		},
		[]string{"Irecv(1 MPI_INT 0 5 MPI_COMM_WORLD)", "Irecv(1 MPI_INT 1 5 MPI_COMM_WORLD)", "Wait(#1)", "Wait(#0)"},
	},
	{
		"a persistent one is an MPI_Irecv at each start",
		func(r *tracetest.Rank) {
			r.Call("MPI_Recv_init", 1, 1, args{"count": 1, "datatype": "MPI_INT", "source": anySource, "tag": 5, "request": request(0)})
			for source := range 2 {
				r.Call("MPI_Start", 1, 1, args{"request": request(0)})
				r.Call("MPI_Wait", 1, 1, args{"request": request(0), "status": status{Source: source, Tag: 5}})
			}
			r.Call("MPI_Request_free", 1, 1, args{"request": request(0)})
		},
		[]string{"Irecv(1 MPI_INT 0 5 MPI_COMM_WORLD)", "Wait(#0)", "Irecv(1 MPI_INT 1 5 MPI_COMM_WORLD)", "Wait(#0)"},
	},
	{
		"a cancelled one keeps its wildcard",
		func(r *tracetest.Rank) {
			r.Call("MPI_Irecv", 1, 1, args{"count": 1, "datatype": "MPI_INT", "source": anySource, "tag": 5, "request": request(0)})
			r.Call("MPI_Cancel", 1, 1, args{"request": request(0)})
			r.Call("MPI_Wait", 1, 1, args{"request": request(0), "status": status{Cancelled: true}})
		},
		[]string{"Irecv(1 MPI_INT MPI_ANY_SOURCE 5 MPI_COMM_WORLD)", "Cancel(#0)", "Wait(#0)"},
	},
	{
		"polls wait, and time between them is no computation",
		func(r *tracetest.Rank) {
			r.Call("MPI_Irecv", 2, 2, args{"count": 1, "datatype": "MPI_INT", "source": 1, "tag": 5, "request": request(0)})
			r.Call("MPI_Test", 2, 2, args{"request": request(0), "flag": 0})
			r.Call("MPI_Test", 2.05, 2.05, args{"request": request(0), "flag": 0})
			r.Call("MPI_Test", 2.1, 2.1, args{"request": request(0), "flag": 1, "status": status{Source: 1, Tag: 5}})
			r.Call("MPI_Barrier", 4.1, 5, args{})
		},
		[]string{"Irecv(1 MPI_INT 1 5 MPI_COMM_WORLD) after 1", "Wait(#0)", "Barrier(MPI_COMM_WORLD) after 2"},
	},
	{
		"some of several requests",
		func(r *tracetest.Rank) {
			for i := range 3 {
				r.Call("MPI_Irecv", 1, 1, args{"count": 1, "datatype": "MPI_INT", "source": 1, "tag": i, "request": request(i)})
			}
			r.Call("MPI_Testsome", 1, 1, args{"incount": 3, "array_of_requests": requests{0, 1, 2}, "outcount": 0, "array_of_indices": []int{}, "array_of_statuses": []status{}})
			r.Call("MPI_Testsome", 1, 1, args{"incount": 3, "array_of_requests": requests{0, 1, 2}, "outcount": 2, "array_of_indices": []int{2, 0}, "array_of_statuses": []status{{}, {}}})
			r.Call("MPI_Testall", 1, 1, args{"count": 1, "array_of_requests": requests{1}, "flag": 1, "array_of_statuses": []status{{}}})
		},
		[]string{
			"Irecv(1 MPI_INT 1 0 MPI_COMM_WORLD)", "Irecv(1 MPI_INT 1 1 MPI_COMM_WORLD)", "Irecv(1 MPI_INT 1 2 MPI_COMM_WORLD)",
			"Waitall(2 [#2 #0])", "Waitall(1 [#1])",
		},
	},
	{
		"a wait for nothing",
		func(r *tracetest.Rank) {
			r.Call("MPI_Waitany", 1, 1, args{"count": 1, "array_of_requests": requests{tracetest.Null}, "index": "MPI_UNDEFINED", "status": status{}})
		},
		[]string{"Waitall(0 [])"},
	},
	{
		"probes",
		func(r *tracetest.Rank) {
			r.Call("MPI_Iprobe", 1, 1, args{"source": anySource, "tag": 3, "flag": 0})
			r.Call("MPI_Iprobe", 1, 1, args{"source": anySource, "tag": 3, "flag": 1, "status": status{Source: 1, Tag: 3}})
			r.Call("MPI_Improbe", 1, 1, args{"source": 1, "tag": anyTag, "flag": 1, "message": tracetest.Message(0), "status": status{Source: 1, Tag: 4}})
		},
		[]string{"Probe(1 3 MPI_COMM_WORLD)", "Mprobe(1 4 MPI_COMM_WORLD)"},
	},
	{
		"what a callback calls, and clock readings",
		func(r *tracetest.Rank) {
			r.Call("MPI_Allreduce", 2, 4, args{"count": 1, "datatype": "MPI_INT", "op": "MPI_SUM"})
			r.Call("MPI_Type_size", 3, 3.5, args{"datatype": "MPI_INT"})
			r.Call("MPI_Wtime", 5, 5, args{})
			r.Call("MPI_Barrier", 7, 8, args{})
		},
		[]string{"Allreduce(1 MPI_INT MPI_SUM MPI_COMM_WORLD) after 1", "Barrier(MPI_COMM_WORLD) after 3"},
	},
}

func TestCanonicalForm(t *testing.T) {
	for _, c := range canonicalForms {
		t.Run(c.name, func(t *testing.T) {
			b := tracetest.New(2).Ranks(func(i int, r *tracetest.Rank) {
				r.Init(0, 1)
				if i == 0 {
					c.made(r)
				}
				r.Finalize(20, 21)
			})
			got := canonicalOf(t, timeline.Of(b.Open(t)), 0)
			require.GreaterOrEqual(t, len(got), 2)
			assert.Equal(t, c.want, got[1:len(got)-1])
		})
	}
}

// TestLongLookahead: receives that are outstanding for longer than the lookahead reaches are
// found all the same.
func TestLongLookahead(t *testing.T) {
	const n = 20
	b := tracetest.New(2)
	r := b.Rank(0).Init(0, 1)
	r.Call("MPI_Irecv", 1, 1, args{"source": anySource, "tag": 1, "request": request(0)})
	for i := range n {
		r.Call("MPI_Irecv", 1, 1, args{"source": anySource, "tag": 2, "request": request(1)})
		r.Call("MPI_Wait", 1, 1, args{"request": request(1), "status": status{Source: i, Tag: 2}})
	}
	r.Call("MPI_Wait", 1, 1, args{"request": request(0), "status": status{Source: 99, Tag: 1}})
	r.Finalize(2, 3)
	b.Rank(1).Init(0, 1).Finalize(2, 3)
	tr := timeline.Of(b.Open(t))
	for _, most := range []int{1, 3, maxAhead} {
		ahead := newLookahead(func(index uint64) (cursor, error) {
			c, err := tr.Calls(0, 0)
			if err == nil {
				c.Seek(index)
			}
			return c, err
		}, most)
		var got []int64
		index := uint64(1)
		m, err := ahead.next(index, 0, nil)
		require.NoError(t, err)
		got = append(got, m.source.Int)
		for index = 2; index < 2+2*n; index += 2 {
			m, err := ahead.next(index, 1, nil)
			require.NoError(t, err)
			got = append(got, m.source.Int)
		}
		want := []int64{99}
		for i := range n {
			want = append(want, int64(i))
		}
		assert.Equal(t, want, got, "at most %d ahead", most)
	}
}

// TestRefusals: what cannot be executed again is named before anything starts.
func TestRefusals(t *testing.T) {
	all := func() *Target {
		target := &Target{Functions: map[uint16]bool{}, Constants: map[uint16]bool{}}
		for i := range mpi.Functions {
			target.Functions[mpi.Functions[i].ID] = true
		}
		for i := range mpi.Constants {
			target.Constants[mpi.Constants[i].ID] = true
		}
		return target
	}
	named := func(b *tracetest.Builder, target *Target) (names []string) {
		for _, r := range Refusals(timeline.Of(b.Open(t)), target) {
			names = append(names, r.What)
		}
		return names
	}
	one := func(do func(r *tracetest.Rank)) *tracetest.Builder {
		b := tracetest.New(1)
		r := b.Rank(0).Init(0, 1)
		do(r)
		return b
	}
	assert.Empty(t, named(one(func(r *tracetest.Rank) { r.Call("MPI_Barrier", 1, 2, nil).Finalize(2, 3) }), all()))
	assert.Equal(t, []string{"MPI_Grequest_complete", "MPI_Comm_join"}, named(one(func(r *tracetest.Rank) {
		r.Call("MPI_Grequest_complete", 1, 2, args{"request": request(0)}).Call("MPI_Comm_join", 1, 2, nil).Finalize(2, 3)
	}), all()))
	assert.Equal(t, []string{"rank 0"}, named(one(func(r *tracetest.Rank) { r.Unfinished("MPI_Barrier", 1, 2, nil) }), all()))
	assert.Equal(t, []string{"the trace"}, named(one(func(r *tracetest.Rank) { r.Untraced().Finalize(2, 3) }), all()))
	b := tracetest.New(1)
	b.Rank(0).Init(0, 1).Call("MPI_Comm_get_parent", 1, 2, args{"parent": tracetest.Comm(b.Comm("spawn", 0))}).Finalize(2, 3)
	assert.Equal(t, []string{"the trace"}, named(b, all()))
	without := all()
	delete(without.Functions, mpi.ByName("MPI_Barrier").ID)
	assert.Equal(t, []string{"MPI_Barrier"}, named(one(func(r *tracetest.Rank) { r.Call("MPI_Barrier", 1, 2, nil).Finalize(2, 3) }),
		without))
	delete(without.Constants, mpi.ConstantByName("MPI_UB").ID)
	assert.Equal(t, []string{"MPI_UB"}, named(one(func(r *tracetest.Rank) {
		r.Call("MPI_Type_create_struct", 1, 2, args{"array_of_types": []string{"MPI_INT", "MPI_UB"}}).Finalize(2, 3)
	}), without))
}

// TestCompare: a run is like one that polled instead of waiting, and unlike one that sent
// to another rank.
func TestCompare(t *testing.T) {
	run := func(sizes [2]int, do func(r *tracetest.Rank)) timeline.Trace {
		b := tracetest.New(2).Ranks(func(i int, r *tracetest.Rank) {
			r.Init(0, 1)
			if i == 0 {
				r.Call("MPI_Isend", 1, 1, args{"count": sizes[0], "datatype": "MPI_INT", "dest": 1, "request": request(sizes[1])})
				do(r)
			}
			r.Finalize(20, 21)
		})
		return timeline.Of(b.Open(t))
	}
	wait := func(id int) func(r *tracetest.Rank) {
		return func(r *tracetest.Rank) { r.Call("MPI_Wait", 2, 3, args{"request": request(id), "status": status{}}) }
	}
	of := func(a, b timeline.Trace) []string {
		_, differences, err := Compare(context.Background(), a, b)
		require.NoError(t, err)
		return differences
	}
	first := run([2]int{1, 0}, wait(0))
	assert.Empty(t, of(first, first))
	// polls, and the handle has another id
	assert.Empty(t, of(first, run([2]int{1, 3}, func(r *tracetest.Rank) {
		r.Call("MPI_Test", 2, 3, args{"request": request(3), "flag": 0})
		r.Call("MPI_Test", 4, 5, args{"request": request(3), "flag": 1, "status": status{Source: 5}})
	})))
	assert.Equal(t, []string{"rank 0, thread 0: the run's call 1, MPI_Isend: argument 2 is 2, not 1 (call 1 of the re-execution)"}, of(first, run([2]int{2, 0}, wait(0))))
	assert.Equal(t, []string{"rank 0, thread 0: the run's call 2, MPI_Wait: argument 1 is another handle (call 2 of the re-execution)"}, of(first, run([2]int{1, 0}, wait(1))))
	assert.Equal(t, []string{"rank 0, thread 0: the run's call 2, MPI_Wait: it is MPI_Finalize (call 2 of the re-execution)"}, of(first, run([2]int{1, 0}, func(*tracetest.Rank) {})))
}
