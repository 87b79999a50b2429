package verify

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

// timedCalls returns the calls of a thread as in a log and as in a trace; intervals are gap and
// duration of each call, in ticks.
func timedCalls(intervals [][2]int64) ([]*loggedCall, []trace.Event) {
	var calls []*loggedCall
	var events []trace.Event
	f, at := &trace.Function{Name: "MPI_Comm_rank"}, int64(1_000_000)
	for i, x := range intervals {
		c := &loggedCall{function: f.Name, enter: at + x[0], exit: at + x[0] + x[1]}
		at = c.exit
		calls = append(calls, c)
		events = append(events, trace.Event{Index: uint64(i), Function: f, EnterTicks: c.enter, ExitTicks: c.exit})
	}
	return calls, events
}

// comparedTimes returns the reasons of the comparison.
func comparedTimes(settings string, calls []*loggedCall, events []trace.Event) (reasons []string) {
	var m times
	var err error
	if m.settings, err = timing.ParseSettings(settings); err != nil {
		panic(err)
	}
	for i := range calls {
		if reason := m.compare(calls[i], &events[i]); reason != "" {
			reasons = append(reasons, fmt.Sprintf("call %d: %s", i, reason))
		}
	}
	return reasons
}

// shift shifts everything from an interval on: interval 2i is the gap before call i,
// 2i + 1 its duration.
func shift(events []trace.Event, interval int, by int64) {
	for i := range events {
		if 2*i >= interval {
			events[i].EnterTicks += by
		}
		if 2*i+1 >= interval {
			events[i].ExitTicks += by
		}
	}
}

// Calls of 600 ticks, 0.2 µs with a counter of 3 GHz: an error of 5% is 30 ticks, and 31 are too
// many, in a duration or in a gap, in either direction. Lossless timing allows none.
func TestBoundOfShortCalls(t *testing.T) {
	intervals := [][2]int64{{0, 9_000}, {600, 600}, {600, 600}, {600, 600}}
	for _, c := range []struct {
		settings string
		interval int
		by       int64
		reason   string // of the first call that disagrees, "" for none
	}{
		{"lossy 5", 3, 30, ""},
		{"lossy 5", 3, -30, ""},
		{"lossy 5", 3, 31, "call 1: it took 631 ticks and not 600, within 30"},
		{"lossy 5", 3, -31, "call 1: it took 569 ticks and not 600, within 30"},
		{"lossy 5", 4, 30, ""},
		{"lossy 5", 4, 31, "call 2: it began 631 ticks and not 600 after the call before, within 30"},
		{"lossy 5", 4, -31, "call 2: it began 569 ticks and not 600 after the call before, within 30"},
		{"lossy 5 MPI_Comm_rank=1", 3, 6, ""},
		{"lossy 5 MPI_Comm_rank=1", 3, 7, "call 1: it took 607 ticks and not 600, within 6"},
		{"lossless", 3, 1, "call 1: it took 601 ticks and not 600, within 0"},
		{"lossless", 4, -1, "call 2: it began 599 ticks and not 600 after the call before, within 0"},
		{"lossless", 0, 1, "call 0: from tick 1000001 to 1009001 and not 1000000 to 1009000, within 0 and 0"},
		{"lossy 5", 0, 1, "call 0: from tick 1000001 to 1009001 and not 1000000 to 1009000, within 0 and 65536"},
	} {
		calls, events := timedCalls(intervals)
		require.Empty(t, comparedTimes(c.settings, calls, events))
		shift(events, c.interval, c.by)
		reasons := comparedTimes(c.settings, calls, events)
		if c.reason == "" {
			require.Empty(t, reasons, "%+v", c)
			continue
		}
		require.NotEmpty(t, reasons, "%+v", c)
		require.True(t, strings.HasPrefix(reasons[0], c.reason), "%+v: %s", c, reasons[0])
	}
}

// Errors that are allowed individually but add up: time stamps drift beyond the stated error.
func TestDriftIsSeen(t *testing.T) {
	intervals := make([][2]int64, 2000)
	for i := range intervals {
		intervals[i] = [2]int64{600, 600}
	}
	calls, events := timedCalls(intervals)
	for i := range 2*len(events) - 1 {
		shift(events, i+1, 30)
	}
	reasons := comparedTimes("lossy 5", calls, events)
	require.NotEmpty(t, reasons)
	require.Contains(t, reasons[0], "from tick")
}

// Times with the recorder's rounding agree for any intervals, also with tracer overhead, nested
// calls and calls without stamps.
func TestRoundedTimesAgree(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 12))
		intervals := make([][2]int64, 3000)
		for i := range intervals {
			for k := range intervals[i] {
				intervals[i][k] = int64(rng.ExpFloat64() * float64(int64(1)<<rng.IntN(30)))
			}
		}
		intervals[0][0] = 0
		calls, events := timedCalls(intervals)
		grid, err := timing.GridOf(5)
		require.NoError(t, err)
		var r timing.Rounder
		at := calls[0].enter
		for i, x := range intervals {
			r.Round(grid, x[:])
			events[i].EnterTicks, events[i].ExitTicks = at+x[0], at+x[0]+x[1]
			at = events[i].ExitTicks
		}
		require.Empty(t, comparedTimes("lossy 5", calls, events))
		for i := range calls {
			if rng.IntN(10) == 0 {
				calls[i].enter, calls[i].exit = 0, 0
			}
		}
		require.Empty(t, comparedTimes("lossy 5", calls, events))
	}
}

// A vote causes an overhead of 5,000 ticks: it is not part of the gap, and shifts what
// follows exactly.
func TestHeldTimeIsExact(t *testing.T) {
	calls, events := timedCalls([][2]int64{{0, 600}, {600, 600}, {5_600, 600}})
	events[2].OverheadTicks = 5_000
	require.Empty(t, comparedTimes("lossless", calls, events))
	events[2].OverheadTicks = 4_000
	require.Empty(t, comparedTimes("lossless", calls, events), "how the time is divided is not in the log")
	shift(events, 4, 31)
	events[2].OverheadTicks = 5_000
	require.Contains(t, comparedTimes("lossy 5", calls, events)[0], "began 631 ticks and not 600")
}

// Statistics of signatures agree with those of the log's own intervals.
func TestAggregatesAreCompared(t *testing.T) {
	calls, events := timedCalls([][2]int64{{0, 700}, {100, 600}, {200, 650}})
	traced := func() []timing.Aggregate {
		a := timing.Aggregate{}
		for _, x := range [][2]int64{{0, 700}, {100, 600}, {200, 650}} {
			a.Gaps.Add(x[0])
			a.Durations.Add(x[1])
		}
		return []timing.Aggregate{a}
	}
	m := times{settings: timing.Settings{Mode: timing.Aggregated}}
	for i := range calls {
		require.Empty(t, m.compare(calls[i], &events[i]))
	}
	thread := m.thread(0)
	require.Empty(t, thread.compareAggregates(traced()))
	wrong := traced()
	wrong[0].Durations.Sum++
	require.Contains(t, thread.compareAggregates(wrong), "signature 0 has the times")
	wrong = traced()
	wrong[0].Gaps.Histogram[0].Bin++
	require.NotEmpty(t, thread.compareAggregates(wrong))
	require.NotEmpty(t, thread.compareAggregates(nil))
}

// An encoder with a slightly too coarse grid is found with calls of 0.2 µs: at 6% their
// neighbors are 6% apart.
func TestCoarserGridIsSeen(t *testing.T) {
	intervals := make([][2]int64, 500)
	for i := range intervals {
		intervals[i] = [2]int64{600 + int64(i), 600 + int64(i)*3%97}
	}
	calls, events := timedCalls(intervals)
	grid, err := timing.GridOf(6)
	require.NoError(t, err)
	var r timing.Rounder
	at := calls[0].enter
	for i, x := range intervals {
		if i == 0 {
			x[0] = 0
		}
		r.Round(grid, x[:])
		events[i].EnterTicks, events[i].ExitTicks = at+x[0], at+x[0]+x[1]
		at = events[i].ExitTicks
	}
	require.NotEmpty(t, comparedTimes("lossy 5", calls, events))
	require.Empty(t, comparedTimes("lossy 6", calls, events))
}
