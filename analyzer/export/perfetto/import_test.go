package perfetto

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/analyzer/analyses/run"
	"github.com/cairn-mpi/cairn/analyzer/clock"
	"github.com/cairn-mpi/cairn/analyzer/export/causality"
	"github.com/cairn-mpi/cairn/analyzer/match"
	"github.com/cairn-mpi/cairn/analyzer/pass"
	"github.com/cairn-mpi/cairn/analyzer/pass/matching"
	"github.com/cairn-mpi/cairn/analyzer/timeline"
	"github.com/cairn-mpi/cairn/internal/simulate"
	"github.com/cairn-mpi/cairn/internal/tracetest"
	"github.com/cairn-mpi/cairn/trace"
)

// Perfetto's trace processor, by its rules (flow_tracker.cc, slice_tracker.cc, trace_sorter.h,
// track_event_parser.cc): events by time, in the order of the file for equal times; a stack of open
// slices per track; a flow is at a slice from the first event with its id on; an event that
// terminates a flow that has not begun is dropped; an arrow goes from the slice that began first,
// the one that had the flow if both began at the same time.

type imported struct {
	slices  []importedSlice
	arrows  []importedArrow
	dropped int // terminations of flows that had not begun
}

type importedSlice struct {
	track      uint64
	name, call string
	start, end uint64
	parent     int // index, −1: none
	instant    bool
}

type importedArrow struct {
	id       uint64
	from, to int // slices
}

func (f *file) imported(t *testing.T) *imported {
	t.Helper()
	events := slices.Clone(f.events)
	sort.SliceStable(events, func(i, j int) bool { return events[i].time < events[j].time })
	var all imported
	open, at := map[uint64][]int{}, map[uint64]int{}
	for _, e := range events {
		stack, slice := open[e.track], -1
		switch e.kind {
		case 1, 3:
			one := importedSlice{track: e.track, name: e.name, call: e.call, start: e.time, end: e.time, parent: -1, instant: e.kind == 3}
			if len(stack) > 0 {
				one.parent = stack[len(stack)-1]
			}
			slice = len(all.slices)
			all.slices = append(all.slices, one)
			if e.kind == 1 {
				open[e.track] = append(stack, slice)
			}
		case 2:
			require.NotEmpty(t, stack, "an end without a beginning at %d on track %d", e.time, e.track)
			slice = stack[len(stack)-1]
			all.slices[slice].end = e.time
			open[e.track] = stack[:len(stack)-1]
		case 4:
			continue // a counter's value
		default:
			t.Fatalf("an event of type %d", e.kind)
		}
		arrow := func(id uint64, from int) {
			to := slice
			if all.slices[from].start > all.slices[to].start {
				from, to = to, from
			}
			all.arrows = append(all.arrows, importedArrow{id, from, to})
		}
		for _, id := range e.flows {
			if from, active := at[id]; active {
				arrow(id, from)
			}
			at[id] = slice
		}
		for _, id := range e.terminates {
			if from, active := at[id]; active {
				arrow(id, from)
				delete(at, id)
			} else {
				all.dropped++
			}
		}
	}
	for track, stack := range open {
		assert.Empty(t, stack, "open slices on track %d", track)
	}
	assert.Empty(t, at, "flows that do not terminate")
	return &all
}

// call is the slice of the call that a slice is or lies in.
func (f *imported) call(slice int) importedSlice {
	for f.slices[slice].instant {
		slice = f.slices[slice].parent
	}
	return f.slices[slice]
}

// words are the arrows: track, call and when that begins at both ends, and the instant
// that it ends at.
func (f *imported) words(unit uint64) []string {
	var list []string
	for _, a := range f.arrows {
		from, to := f.call(a.from), f.call(a.to)
		text := fmt.Sprintf("%d %s %d > %d %s %d", from.track-firstTrack, from.name, from.start/unit, to.track-firstTrack, to.name, to.start/unit)
		if f.slices[a.to].instant {
			text += " " + f.slices[a.to].name
		}
		list = append(list, text)
	}
	return list
}

// pairs are all messages of a trace, as words of an arrow has them without its instant, backward
// ones turned around.
type pairs struct {
	start    int64
	names    map[uint16]string
	list     []string
	backward int
}

func (p *pairs) Message(m *match.Message) {
	from, to := m.Send.Post, m.Receive.Done
	if m.Receive.Probe || to == nil || m.Kind == match.ExposedToStart {
		return
	}
	a := fmt.Sprintf("%d %s %d", from.Location, p.names[from.Function], max(0, from.Enter-p.start))
	b := fmt.Sprintf("%d %s %d", to.Location, p.names[to.Function], max(0, to.Enter-p.start))
	if to.Exit < from.Enter {
		p.backward++
		a, b = b, a
	}
	p.list = append(p.list, a+" > "+b)
}
func (p *pairs) Collective(*match.Collective, int) {}
func (p *pairs) Settled(*match.Completion)         {}

// checkArrows compares the arrows that Perfetto shows with the messages of a trace whose clock
// starts at start, one by one, at the times of package causality. None points backward. It returns
// the number of messages, and of calls that were moved.
func checkArrows(t *testing.T, r *trace.Reader, start int64) (messages int, repaired uint64) {
	t.Helper()
	opened := timeline.Of(r)
	clocks, err := clock.Analyze(t.Context(), opened)
	require.NoError(t, err)
	correction, err := causality.Find(t.Context(), opened, clocks.Clocks)
	require.NoError(t, err)
	moved := correction.Clocks(clocks.Clocks)
	want := pairs{start: start, names: map[uint16]string{}}
	require.NoError(t, timeline.Each(t.Context(), opened, moved, func(c *timeline.Call) error {
		want.names[c.Function.ID] = c.Function.Name
		return nil
	}))
	_, err = match.All(t.Context(), opened, moved, &want, nil)
	require.NoError(t, err)

	f, summary := exported(t, opened, Options{Clock: clocks})
	shown := f.imported(t)
	var have []string
	for _, a := range shown.arrows {
		from, to := shown.call(a.from), shown.call(a.to)
		have = append(have, fmt.Sprintf("%d %s %d > %d %s %d", from.track-firstTrack, from.name, from.start, to.track-firstTrack, to.name, to.start))
		if shown.slices[a.to].instant {
			in := shown.slices[shown.slices[a.to].parent]
			assert.Equal(t, in.end, shown.slices[a.to].start, "a message is received where its call ends")
		}
	}
	assert.Zero(t, shown.dropped)
	assert.EqualValues(t, len(want.list), summary.Messages)
	assert.ElementsMatch(t, want.list, have)
	assert.Zero(t, want.backward)
	f.checkFlows(t)
	assert.Equal(t, correction.Repairs, summary.Repairs)
	return len(want.list), summary.Repaired
}

// checkFlows checks that every flow begins with a slice, the call that sends, and terminates later,
// at the end of the receive.
func (f *file) checkFlows(t *testing.T) {
	t.Helper()
	begun := map[uint64]uint64{}
	for _, e := range f.events {
		for _, id := range e.flows {
			require.EqualValues(t, 1, e.kind, "flow %d begins with the end of a call", id)
			begun[id] = e.time
		}
	}
	for _, e := range f.events {
		for _, id := range e.terminates {
			if before, known := begun[id]; assert.True(t, known, id) && e.kind != 1 {
				assert.Less(t, before, e.time, "flow %d", id)
			}
		}
	}
}

// Each message is an arrow, whoever waits and however it is received.
func TestEveryMessageIsAnArrowInPerfetto(t *testing.T) {
	type args = tracetest.Args
	known := func(source int) tracetest.Status { return tracetest.Status{Source: source, Bytes: 8} }
	tests := map[string]struct {
		program func(*tracetest.Builder)
		want    []string // by hand; times in units since MPI_Init began
	}{
		"late sender": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 9, 1, 8)
			b.Rank(1).Send(8, 10, 0)
		}, []string{"1 MPI_Send 8 > 0 MPI_Recv 2 received"}},
		"late receiver": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(8, 9, 1, 8)
			b.Rank(1).Send(2, 9, 0)
		}, []string{"1 MPI_Send 2 > 0 MPI_Recv 8"}},
		"received long after it was sent": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(8, 9, 1, 8)
			b.Rank(1).Send(2, 3, 0)
		}, []string{"1 MPI_Send 2 > 0 MPI_Recv 8"}},
		"the receive ends as the send begins": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 5, 1, 8).Collective("MPI_Barrier", 5, 9)
			b.Rank(1).Send(5, 6, 0).Collective("MPI_Barrier", 6, 9)
		}, []string{"1 MPI_Send 5 > 0 MPI_Recv 2 received"}},
		"both begin at once": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 5, 1, 8)
			b.Rank(1).Send(2, 3, 0)
		}, []string{"1 MPI_Send 2 > 0 MPI_Recv 2"}},
		// Rank 2's message goes on by rank 1 to rank 0 in no time: of time 5, the calls are sent in
		// the order 2, 1, 0.
		"passed on without any time": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 5, 1, 8).Collective("MPI_Barrier", 5, 9)
			b.Rank(1).Recv(3, 5, 2, 8).Send(5, 5, 0).Collective("MPI_Barrier", 5, 9)
			b.Rank(2).Send(5, 5, 1).Collective("MPI_Barrier", 5, 9)
		}, []string{"1 MPI_Send 5 > 0 MPI_Recv 2 received", "2 MPI_Send 5 > 1 MPI_Recv 3 received"}},
		"nonblocking on both sides, completed together": {func(b *tracetest.Builder) {
			b.Rank(0).Irecv(2, 2.5, 1, 7).Irecv(2.5, 3, 2, 8).Waitall(3, 9, tracetest.Requests{7, 8}, known(1), known(2))
			b.Rank(1).Isend(2, 2.5, 0, 7).Waitall(3, 9, tracetest.Requests{7})
			b.Rank(2).Isend(7, 7.5, 0, 7).Waitall(8, 9, tracetest.Requests{7})
		}, []string{"1 MPI_Isend 2 > 0 MPI_Waitall 3", "2 MPI_Isend 7 > 0 MPI_Waitall 3 received"}},
		"two late ones in one call": {func(b *tracetest.Builder) {
			b.Rank(0).Irecv(2, 2.5, 1, 7).Irecv(2.5, 3, 2, 8).Waitall(3, 9, tracetest.Requests{7, 8}, known(1), known(2))
			b.Rank(1).Send(5, 6, 0)
			b.Rank(2).Send(7, 8, 0)
		}, []string{"1 MPI_Send 5 > 0 MPI_Waitall 3 received", "2 MPI_Send 7 > 0 MPI_Waitall 3 received"}},
		"persistent, twice": {func(b *tracetest.Builder) {
			own := args{"source": 1, "request": tracetest.Request(7)}
			b.Rank(0).Call("MPI_Recv_init", 1, 1.5, own)
			b.Rank(1).Call("MPI_Send_init", 1, 1.5, args{"dest": 0, "request": tracetest.Request(7)})
			for _, at := range []float64{2, 12} {
				b.Rank(0).Call("MPI_Start", at, at+1, args{"request": tracetest.Request(7)}).
					Call("MPI_Wait", at+1, at+7, args{"request": tracetest.Request(7), "status": known(1)})
				b.Rank(1).Call("MPI_Start", at+5, at+6, args{"request": tracetest.Request(7)}).
					Call("MPI_Wait", at+6, at+7, args{"request": tracetest.Request(7)})
			}
		}, []string{"1 MPI_Start 7 > 0 MPI_Wait 3 received", "1 MPI_Start 17 > 0 MPI_Wait 13 received"}},
		"an exchange, one call for both": {func(b *tracetest.Builder) {
			for i, at := range []float64{2, 5} {
				b.Rank(i).Call("MPI_Sendrecv", at, 8, args{"dest": 1 - i, "source": 1 - i, "status": known(1 - i)})
			}
		}, []string{"0 MPI_Sendrecv 2 > 1 MPI_Sendrecv 5", "1 MPI_Sendrecv 5 > 0 MPI_Sendrecv 2 received"}},
		"to oneself": {func(b *tracetest.Builder) {
			b.Rank(0).Call("MPI_Sendrecv", 2, 3, args{"dest": 0, "source": 0, "status": known(0)})
		}, []string{"0 MPI_Sendrecv 2 > 0 MPI_Sendrecv 2"}},
		"two messages of two sends at one time": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 5, 1, 8).Recv(5, 6, 1, 8)
			b.Rank(1).Send(5, 5, 0).Send(5, 5, 0)
		}, []string{"1 MPI_Send 5 > 0 MPI_Recv 2 received", "1 MPI_Send 5 > 0 MPI_Recv 5"}},
		// Clocks of one host are one clock, which does not move the receive that ends before the
		// send begins: causality does.
		"received before it was sent": {func(b *tracetest.Builder) {
			b.Rank(0).Recv(2, 4, 1, 8)
			b.Rank(1).Send(5, 6, 0)
		}, []string{"1 MPI_Send 5 > 0 MPI_Recv 2 received"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := tracetest.New(3)
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 1) })
			test.program(b)
			b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(30, 31) })
			f, summary := written(t, b, Options{})
			shown := f.imported(t)
			assert.Zero(t, shown.dropped)
			f.checkFlows(t)
			assert.Len(t, test.want, int(summary.Messages))
			assert.ElementsMatch(t, test.want, shown.words(tracetest.Unit))
		})
	}
}

// Random programs, in which most things happen at once: calls that take no time, receives that end
// as their send begins, chains of these. Every other program's times are rounded, which puts
// receives before their sends.
func TestArrowsOfRandomPrograms(t *testing.T) {
	total, repaired := 0, uint64(0)
	for seed := range int64(60) {
		random := rand.New(rand.NewSource(seed))
		ranks := 2 + random.Intn(5)
		b, now, line := tracetest.New(ranks), make([]float64, ranks), 0
		call := func(i int, length float64, add func(r *tracetest.Rank, enter, exit float64)) (enter float64) {
			enter = now[i] + float64(random.Intn(2))
			now[i] = max(enter, length) + float64(random.Intn(2))
			line++
			add(b.Rank(i).At(fmt.Sprintf("x.c:%d", line)), enter, now[i])
			return enter
		}
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Init(0, 0) })
		for range 40 {
			from, to := random.Intn(ranks), random.Intn(ranks)
			if from == to {
				continue
			}
			known := tracetest.Status{Source: from, Bytes: 8}
			if random.Intn(2) == 0 {
				sent := call(from, 0, func(r *tracetest.Rank, enter, exit float64) { r.Send(enter, exit, to) })
				call(to, sent, func(r *tracetest.Rank, enter, exit float64) { r.Recv(enter, exit, from, 8) })
				continue
			}
			last, posted := 0.0, tracetest.Requests{}
			for q := range 1 + random.Intn(3) {
				posted = append(posted, tracetest.Request(q))
				call(to, 0, func(r *tracetest.Rank, enter, exit float64) { r.Irecv(enter, exit, from, tracetest.Request(q)) })
			}
			var statuses []tracetest.Status
			for range posted {
				last = call(from, 0, func(r *tracetest.Rank, enter, exit float64) { r.Send(enter, exit, to) })
				statuses = append(statuses, known)
			}
			call(to, last, func(r *tracetest.Rank, enter, exit float64) { r.Waitall(enter, exit, posted, statuses...) })
		}
		b.Ranks(func(_ int, r *tracetest.Rank) { r.Finalize(1000, 1001) })
		start := int64(0)
		if seed%2 > 0 {
			found, err := pass.Find(t.Context(), timeline.Of(b.Lossy(20).Open(t)), run.Analysis.Pass)
			require.NoError(t, err)
			start = found.RunStartNS
		}
		messages, moved := checkArrows(t, b.Open(t), start)
		total += messages
		if seed%2 > 0 {
			repaired += moved
		}
	}
	assert.Greater(t, total, 2000)
	assert.Greater(t, repaired, uint64(100), "nothing to repair proves nothing")
}

// Programs as they are: with wildcards, rounded times, clocks that are apart.
func TestArrowsOfSimulatedPrograms(t *testing.T) {
	for _, one := range []simulate.Config{
		{Pattern: "stencil2d", Ranks: 16, Imbalance: simulate.Imbalance{SlowRank: 5, SlowPercent: 50}},
		{Pattern: "wavefront", Ranks: 12},
		{Pattern: "master-worker", Ranks: 6},
		{Pattern: "irregular", Ranks: 8, Timing: "lossy 5"},
		{Pattern: "ring", Ranks: 6, RanksPerNode: 2, Skew: []time.Duration{0, 3 * time.Millisecond}, Timing: "lossy 20"},
	} {
		t.Run(one.Pattern+" "+one.Timing, func(t *testing.T) {
			r := tracetest.Open(t, tracetest.Simulated(t, one))
			opened := timeline.Of(r)
			clocks, err := clock.Analyze(t.Context(), opened)
			require.NoError(t, err)
			found, err := pass.Find(t.Context(), opened, run.Analysis.Pass, func(r *pass.Run) { pass.Give(r, matching.Given, clocks) })
			require.NoError(t, err)
			messages, repaired := checkArrows(t, r, found.RunStartNS)
			assert.Positive(t, messages)
			t.Logf("%d messages, %d calls moved", messages, repaired)
		})
	}
}

// Without the times of single calls there is no timeline, and nothing is written.
func TestNoTimeLineOfSums(t *testing.T) {
	r := tracetest.Open(t, tracetest.Simulated(t, simulate.Config{Pattern: "hypercube", Ranks: 8, Timing: "aggregated"}))
	var out bytes.Buffer
	_, err := Write(t.Context(), &out, timeline.Of(r), Options{})
	assert.ErrorContains(t, err, "trace with timing lossless or lossy")
	assert.Zero(t, out.Len())
}
