package match

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/polling"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/mpi/semantics"
	"github.com/cairn-mpi/cairn/trace"
)

// TestPackedCallsAreTheSame: packing and unpacking preserves calls of all kinds with numbers of all
// sizes. The kinds that most programs use fit into one cache line.
func TestPackedCallsAreTheSame(t *testing.T) {
	assert.EqualValues(t, 64-8, unsafe.Sizeof(packed{}), "beside the time of the next one")
	random := rand.New(rand.NewPCG(1, 2))
	r := reader{location: 7, begin: 1000}
	for a := ignore; a <= partitionArrived; a++ {
		p := &plan{Function: semantics.Function{}, action: a}
		r.terminals = append(r.terminals, terminalPlan{plan: p, function: new(trace.Function), semantics: &p.Function, signature: new(trace.Signature)})
	}
	whole := 0
	const calls = 20_000
	for range calls {
		c, first := randomCall(random, &r)
		var stored packed
		kept := len(r.whole)
		r.pack(&c, first, &stored)
		whole += len(r.whole) - kept
		// of the call before
		got := Call{Record: timeline.Record{Overhead: 5}, request: 9, requests: make([]completed, 3), event: new(trace.Event)}
		r.unpack(&stored, c.Enter, &got)
		if len(got.requests) == 0 {
			got.requests = nil
		}
		if len(c.requests) == 0 {
			c.requests = nil
		}
		require.Equal(t, c, got)
	}
	assert.Greater(t, whole, calls/20)
	assert.Less(t, whole, calls*3/4)
}

// TestCallsAreThoseOfTheTimeline: packed calls have the same records as unpacked ones, for a whole
// run and for a window, at whose ends times are clipped.
func TestCallsAreThoseOfTheTimeline(t *testing.T) {
	for _, pattern := range []string{"stencil2d", "master-worker", "random"} {
		tr := timeline.Of(tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: pattern, Ranks: 6, Iterations: 100})))
		begin, end := tr.Span(0)
		part := &timeline.Window{From: begin + (end-begin)/3, To: begin + (end-begin)/2}
		for _, window := range []*timeline.Window{nil, part} {
			clocks := &timeline.Clocks{Of: make([]int, 6), Domains: make([]timeline.Clock, 1), Window: window}
			var want, got []timeline.Record
			require.NoError(t, timeline.Each(t.Context(), tr, clocks, func(c *timeline.Call) error {
				want = append(want, c.Record)
				return nil
			}))
			require.NoError(t, each(t.Context(), tr, clocks, func(c *Call) error {
				got = append(got, c.Record)
				return nil
			}))
			require.NotEmpty(t, want)
			require.Len(t, got, len(want))
			for i := range want {
				if got[i] != want[i] {
					require.Equal(t, want[i], got[i])
				}
			}
		}
	}
}

// TestContentsDiffer: a call is like another one of its terminal only if all of its arguments and
// requests are the same.
func TestContentsDiffer(t *testing.T) {
	of := &reader{requests: []completed{{1, envelope{source: 2, tag: 3}}, {1, envelope{source: 2, tag: 3}}, {1, envelope{source: 2, tag: 4}}}}
	one := packed{after: 1, comm: 1, own: 2, peer: 3, source: 4, tag: 5}
	c := content{packed: one, requests: of.requests[:1]}
	same := one
	same.first, same.after = 1, 2
	assert.True(t, c.isLike(of, &same))
	for name, change := range map[string]func(p *packed){
		"whole":        func(p *packed) { p.flags |= packedWhole },
		"communicator": func(p *packed) { p.comm++ },
		"own rank":     func(p *packed) { p.own++ },
		"peer":         func(p *packed) { p.peer++ },
		"source":       func(p *packed) { p.source++ },
		"tag":          func(p *packed) { p.tag++ },
		"requests":     func(p *packed) { p.first, p.after = 2, 3 },
	} {
		other := same
		change(&other)
		assert.False(t, c.isLike(of, &other), name)
	}
}

// randomCall returns a call as a reader makes it, and the index of its first request.
func randomCall(random *rand.Rand, r *reader) (c Call, first int) {
	small := func() int32 { return random.Int32N(100) }
	rare := func() bool { return random.IntN(16) == 0 }
	terminal := random.IntN(len(r.terminals))
	of := &r.terminals[terminal]
	c.Record = timeline.Record{
		Location: r.location, Enter: random.Int64(), Exit: random.Int64(), EnterError: int64(small()), ExitError: int64(small()),
		Outside: rare(), Apart: rare(), Index: r.begin + uint64(small()), Function: of.function, Semantics: of.semantics, Signature: of.signature,
	}
	if rare() {
		c.Overhead = int64(small())
	}
	if rare() {
		c.ExitError = math.MaxUint32 + 1
	}
	c.Poll, c.Terminal, c.open, c.idle, c.unsuccessful = polling.Poll(random.IntN(8)), int32(terminal), rare(), rare(), rare()
	c.plan = of.plan
	first = len(r.requests)
	if c.idle {
		return c, first
	}
	c.comm, c.own, c.request = small()-1, small()-1, noRequest
	if c.operates() {
		c.dest, c.source, c.root, c.tag = small(), small(), noValue, int64(small())
		if of.plan.action == collective {
			c.dest, c.source, c.root, c.tag, c.bytes = noValue, noValue, small(), noValue, random.Int64()>>random.IntN(60)
		}
		if rare() {
			c.root, c.dest = small(), small()
		}
		if rare() {
			c.tag = math.MaxInt64
		}
		if c.receiveTag = c.tag; rare() {
			c.receiveTag++
		}
		if rare() {
			c.partitions = small()
		}
		switch random.IntN(4) {
		case 0:
			c.request = int64(small())
		case 1:
			c.request = random.Int64() - random.Int64()
		}
	}
	if rare() {
		c.event = new(trace.Event)
	}
	if c.request == noRequest || rare() {
		for range random.IntN(4) {
			r.requests = append(r.requests, completed{int64(small()), envelope{tag: int64(small()), source: small(), known: true}})
		}
	}
	c.requests = r.requests[first:]
	return c, first
}
