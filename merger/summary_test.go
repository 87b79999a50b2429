package merger

import (
	"math"
	"testing"

	"github.com/cairn-mpi/cairn/trace"
	"github.com/cairn-mpi/cairn/trace/timing"
)

func TestSummary(t *testing.T) {
	var inputs []*trace.Content
	for rank := range 2 {
		r := record("w", 3, rank)
		// from tick 10: Init 10, 60 outside, Send 20 with a call of 5 nested in it, 10
		// outside, Finalize 10
		r.call(trace.Signature{Function: 1, OwnRank: -1}, 0, 10)
		r.call(trace.Signature{Function: 3, OwnRank: int32(rank), In: []trace.Value{{Form: trace.Pointer}, num(1), num(0), name("MPI_COMM_WORLD")}}, 60, 20)
		r.call(trace.Signature{Function: 6, OwnRank: -1, Out: []trace.Value{num(0)}}, -15, 5)
		r.call(trace.Signature{Function: 2, OwnRank: -1}, 20, 10)
		// after MPI_Finalize: does not count
		r.call(trace.Signature{Function: 6, OwnRank: -1, Out: []trace.Value{num(0)}}, 1000, 1000)
		inputs = append(inputs, r.content())
	}
	s := Summarize(merge(t, true, inputs...))
	if s.Ranks != 2 || s.Calls != 10 || s.Missing.String() != "2" {
		t.Errorf("%+v", s)
	}
	if math.Abs(s.RunTime-110e-9) > 1e-15 || math.Abs(s.ParallelEfficiency-70.0/110) > 1e-9 {
		t.Errorf("run time %v, efficiency %v", s.RunTime, s.ParallelEfficiency)
	}
}

func TestSummaryWithoutTiming(t *testing.T) {
	inputs := simulate("w", 2, 2, 1)
	for _, c := range inputs {
		c.Threads.Change(0, func(t *trace.Thread) { t.Gaps, t.Durations, t.EndTick = nil, nil, 0 })
	}
	if s := Summarize(merge(t, true, inputs...)); s.ParallelEfficiency != -1 || s.Calls == 0 {
		t.Errorf("%+v", s)
	}
}

func TestTimeLineOfTicks(t *testing.T) {
	line := newTimeLine(timing.Clock{Kind: "tsc", Samples: []timing.ClockSample{{Ticks: 1000, MonotonicNS: 5e9}, {Ticks: 4000, MonotonicNS: 6e9}}})
	if got := line.seconds(2500); math.Abs(got-5.5) > 1e-9 {
		t.Errorf("%v", got)
	}
}
